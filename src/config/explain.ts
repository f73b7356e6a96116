import type { Settings } from '../model/settings.ts';
import { renderDuration } from './durations.ts';
import { type LoadedSettings, SETTING_KEYS, type SettingKey, type SettingOrigin } from './load-config.ts';
import { renderSize } from './sizes.ts';

/** One setting as `sennit.yaml` would hold it (`null` for none), and where its value is from. */
export interface ExplainedSetting extends SettingOrigin {
  readonly key: SettingKey;
  readonly value: unknown;
}

/** Every setting with its value and origin, in the order of the documentation. */
export function explainSettings(loaded: LoadedSettings): ExplainedSetting[] {
  const values = fileValues(loaded.settings);
  return SETTING_KEYS.map((key) => ({ key, value: values[key], ...loaded.origins[key] }));
}

function fileValues(settings: Settings): Record<SettingKey, unknown> {
  const { gates, snapshot, guards, push } = settings;
  return {
    target: settings.target,
    'gates.root':
      gates.root.length === 0
        ? null
        : Object.fromEntries(gates.root.map(({ name, command }) => [name, command])),
    'gates.timeout': renderDuration(gates.timeoutMs),
    'gates.output': renderSize(gates.outputBytes),
    'gates.max_runs': gates.maxRuns,
    ladder: settings.ladder,
    generated: settings.generated.map(({ paths, by }) => (by === null ? { paths } : { paths, by })),
    'snapshot.max_file_size': renderSize(snapshot.maxFileBytes),
    'snapshot.filters': snapshot.filters,
    'snapshot.exclude': snapshot.exclude,
    'guards.symlinks': guards.symlinks,
    'guards.gitlinks': guards.gitlinks,
    'guards.markers': guards.markers,
    message: settings.message,
    'push.remote': push.remote,
    'push.retries': push.retries,
    verify: settings.verify,
  };
}
