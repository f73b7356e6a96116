// Generated and lock files are written anew once, after the merge and before the gate, by the commands that the target
// branch's settings name. Only the declared paths are taken from what a command leaves; anything else that it changed
// is said and left out.

import { join } from 'node:path';
import { SennitError } from '../model/errors.ts';
import type { Finding } from '../model/finding.ts';
import { displayPath, type GitPath, type Oid, type OperationId } from '../model/ids.ts';
import type { TreeEntry } from '../model/tree.ts';
import type { Objects } from '../ports/git.ts';
import type { Context } from './context.ts';
import { closeGateWorktree, openGateWorktree } from './validate.ts';

export interface Regenerated {
  readonly tree: Oid;
  readonly paths: readonly GitPath[];
  readonly findings: readonly Finding[];
}

/** Runs the commands of the rules that match `touched`, in the order of the settings, in one fresh worktree of `commit`. */
export async function regenerate(
  context: Context,
  objects: Objects,
  operation: OperationId,
  commit: Oid,
  tree: Oid,
  touched: readonly GitPath[],
): Promise<Regenerated> {
  const rules = new Set(touched.map((path) => context.patterns.findGenerated(path)));
  const commands = [
    ...new Set(context.settings.generated.filter((rule) => rules.has(rule)).flatMap(({ by }) => by ?? [])),
  ];
  if (commands.length === 0) return { tree, paths: [], findings: [] };
  const scratch = await openGateWorktree(context, operation, 'regenerate', commit);
  try {
    for (const [i, command] of commands.entries()) {
      context.narrator.step(`regenerating: ${command}`);
      const logFile = join(context.place.stateDir, 'operations', operation, `regenerate-${i + 1}.log`);
      const result = await context.runner.run({
        command,
        cwd: scratch.path,
        timeoutMs: context.settings.gates.timeoutMs,
        outputLimit: context.settings.gates.outputBytes,
        logFile,
      });
      if (result.outcome !== 'passed') {
        throw new SennitError(
          'regenerate_failed',
          `The command that writes generated files failed (${result.outcome}): ${command}\n${result.tail}`,
          {
            hint: `Its output is in ${logFile}. Mend the command in sennit.yaml on the target, then run the landing again.`,
          },
        );
      }
    }
    const capture = await context.workspaces.capture({
      worktree: {
        ...scratch,
        primary: false,
        branch: null,
        head: commit,
        locked: null,
        exists: true,
        linked: true,
      },
      base: commit,
      maxFileBytes: context.settings.snapshot.maxFileBytes,
      filters: context.settings.snapshot.filters,
      exclude: [],
      scratch: join(context.place.stateDir, 'operations', operation, 'capture', 'regenerate'),
    });
    const changes = await objects.diffTrees(tree, capture.tree);
    const taken = new Map<GitPath, TreeEntry | null>();
    const others: GitPath[] = [];
    for (const { path, after } of changes) {
      if (context.patterns.findGenerated(path)?.by != null) taken.set(path, after);
      else others.push(path);
    }
    const findings: Finding[] =
      others.length === 0
        ? []
        : [
            {
              check: 'regenerate_strayed',
              severity: 'warning',
              message: `Regenerating also changed files that are not declared as generated; they were left out: ${others.slice(0, 5).map(displayPath).join(', ')}.`,
              paths: others.map(displayPath),
            },
          ];
    return { tree: await objects.applyToTree(tree, taken), paths: [...taken.keys()], findings };
  } finally {
    await closeGateWorktree(context, scratch);
  }
}
