import { describe, expect, it } from 'vitest';
import { SennitError } from '../model/errors.ts';
import { gitPathOfText } from '../model/ids.ts';
import { DEFAULT_SETTINGS } from './defaults.ts';
import { explainSettings } from './explain.ts';
import { loadSettings, SETTING_KEYS } from './load-config.ts';
import { matchGenerated } from './path-patterns.ts';

const label = 'sennit.yaml at main@1a2b3c4d';
const load = (text: string, flags = {}) => loadSettings({ text, label }, flags);

describe('loadSettings', () => {
  it('needs no file', async () => {
    const { settings, origins } = await loadSettings(null);
    expect(settings).toEqual(DEFAULT_SETTINGS);
    expect(new Set(SETTING_KEYS.map((key) => origins[key].from))).toEqual(new Set(['default']));
  });

  it('turns units into milliseconds and bytes', async () => {
    const { settings } = await load(
      'gates: { timeout: 0.5, output: 2MiB }\nsnapshot: { max_file_size: 5000 }',
    );
    expect(settings.gates.timeoutMs).toBe(30_000);
    expect(settings.gates.outputBytes).toBe(2 * 1024 * 1024);
    expect(settings.snapshot.maxFileBytes).toBe(5000);
  });

  it('keeps gates in the order of the file and puts those of flags after them', async () => {
    const text = 'gates: { root: { types: tsc, gate-1: lint } }';
    const { settings } = await load(text, { gates: ['npm test', 'npm run e2e'] });
    expect(settings.gates.root).toEqual([
      { name: 'types', command: 'tsc' },
      { name: 'gate-1', command: 'lint' },
      { name: 'gate-2', command: 'npm test' },
      { name: 'gate-3', command: 'npm run e2e' },
    ]);
    expect((await load(text, { noGate: true })).settings.gates.root).toEqual([]);
    expect((await load('gates: { root: make }')).settings.gates.root).toEqual([
      { name: 'root', command: 'make' },
    ]);
  });

  it('keeps the built-in lock files when a file adds a rule, and lets it take some out', async () => {
    const { settings } = await load(`generated:
  - { paths: [package-lock.json], by: npm i --package-lock-only }
  - { paths: ['!vendor/own.min.js'] }
`);
    const find = matchGenerated(settings.generated);
    expect(find(gitPathOfText('package-lock.json'))?.by).toBe('npm i --package-lock-only');
    expect(find(gitPathOfText('go.sum'))?.by).toBeNull();
    expect(find(gitPathOfText('vendor/own.min.js'))).toBeUndefined();
    expect(find(gitPathOfText('vendor/other.min.js'))).toBeDefined();
  });

  it('tells all problems in one error', async () => {
    const error: unknown = await load('tagret: x\nverify: 1\n').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SennitError);
    expect(error).toMatchObject({ code: 'config_invalid', exitCode: 2, paths: ['sennit.yaml'] });
    expect((error as SennitError).message).toBe(
      `${label} has 2 problems:\n` +
        '  sennit.yaml:1:1 tagret: is not a setting; did you mean target?\n' +
        '  sennit.yaml:2:9 verify: must be true or false, not 1',
    );
  });

  it('does not flood the terminal with problems', async () => {
    const text = Array.from({ length: 50 }, (_, i) => `zzzz${i}: 1`).join('\n');
    const error = (await load(text).catch((thrown: unknown) => thrown)) as SennitError;
    expect(error.message.split('\n')).toHaveLength(22);
    expect(error.message).toMatch(/and 30 more$/);
  });
});

describe('explainSettings', () => {
  it('says for each setting what it is and where it is from', async () => {
    const text = 'gates: { root: make, timeout: 5 }\nverify: false\ngenerated: [{ paths: [a] }]';
    const explained = explainSettings(await load(text, { into: 'dev', gates: ['x'], verify: true }));
    expect(explained.map(({ key }) => key)).toEqual([...SETTING_KEYS]);
    const byKey = new Map(explained.map((each) => [each.key, each]));
    expect(byKey.get('target')).toEqual({ key: 'target', value: 'dev', from: 'flag', where: 'flag --into' });
    expect(byKey.get('gates.root')).toEqual({
      key: 'gates.root',
      value: { root: 'make', 'gate-1': 'x' },
      from: 'flag',
      where: `flag --gate, after ${label}`,
    });
    expect(byKey.get('gates.timeout')).toEqual({
      key: 'gates.timeout',
      value: 5,
      from: 'file',
      where: label,
    });
    expect(byKey.get('gates.output')).toMatchObject({ value: '10MB', from: 'default', where: 'default' });
    expect(byKey.get('snapshot.max_file_size')).toMatchObject({ value: '100MB' });
    expect(byKey.get('generated')).toMatchObject({ from: 'file', where: `${label}, then the built-in list` });
    expect(byKey.get('verify')).toMatchObject({ value: true, from: 'flag', where: 'flag --verify' });
    expect(byKey.get('push.remote')).toMatchObject({ value: null, from: 'default' });
  });
});
