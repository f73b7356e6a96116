import { describe, expect, it } from 'vitest';
import { parseSettings } from './parse-settings.ts';

/** The problems of a text, one line each. */
function problemsOf(text: string): string[] {
  const parsed = parseSettings(text);
  if (parsed.outcome === 'valid') return [];
  return parsed.problems.map(({ line, column, key, message }) => `${line}:${column} ${key}: ${message}`);
}

describe('parseSettings', () => {
  it('takes every setting', () => {
    const text = `# all of them
target: release/2.x
gates:
  root:
    types: npx tsc
    tests: |
      npm test
  timeout: 2.5
  output: 500KB
  max_runs: 0
ladder: [text, hand-over]
generated:
  - { paths: [schema.json], by: make schema }
  - paths:
      - '!vendor/*.min.js'
snapshot: { max_file_size: 1GiB, filters: [crypt], exclude: [/tmp/] }
guards: { symlinks: allow, gitlinks: refuse, markers: [docs/merging.md] }
message: "Land {count}: {sources}\\n\\n{subjects} {{x}}"
push: { remote: origin, retries: 0 }
verify: true
`;
    expect(problemsOf(text)).toEqual([]);
  });

  it.each(['', '\n', '# nothing\n', '---\n', '{}', '\ufeff'])('takes %j as no settings', (text) => {
    expect(parseSettings(text)).toEqual({ outcome: 'valid', content: {} });
  });

  it('tells all problems at once, each with its place', () => {
    const text = `tagret: main
gates:
  root: 12
  tiemout: 10
  max_runs: -1
ladder: [patch, text]
guards:
  symlinks: alow
verify: yes
`;
    expect(problemsOf(text)).toEqual([
      '1:1 tagret: is not a setting; did you mean target?',
      '3:9 gates.root: root is one command, or several with a name each, not 12',
      '4:3 gates.tiemout: is not a setting; did you mean gates.timeout?',
      '5:13 gates.max_runs: this is 0 or more',
      '6:10 ladder[0]: the first rung must be text',
      '8:13 guards.symlinks: must be one of refuse, allow, not the text "alow"; did you mean allow?',
      '9:9 verify: must be true or false, not the text "yes"',
    ]);
  });

  it.each([
    ['maxRuns: 3', '1:1 maxRuns: is not a setting; did you mean gates.max_runs?'],
    ['timeout: 3', '1:1 timeout: is not a setting; did you mean gates.timeout?'],
    ['push: { zzz: 3 }', '1:9 push.zzz: is not a setting; known here: remote, retries'],
    ['gates:', '1:1 gates: must be a section with keys, not nothing'],
    ['gates:\n  root:\n', '2:3 gates.root: root is one command, or several with a name each, not nothing'],
    ['gates: npm test', '1:8 gates: must be a section with keys, not the text "npm test"'],
    ['gates: { root: {} }', '1:16 gates.root: name at least one command, or leave root out'],
    ['gates: { root: " " }', '1:16 gates.root: a command must not be empty'],
    [
      'gates: { root: { "a b": x } }',
      '1:18 gates.root.a b: a name is made of letters, digits, dots, dashes and underscores',
    ],
    ['gates: { root: { a: 1 } }', '1:21 gates.root.a: must be a text, not 1; put it in quotes'],
    ['gates: { timeout: 0 }', '1:19 gates.timeout: a time limit is more than 0'],
    ['gates: { timeout: 0s }', '1:19 gates.timeout: a time limit is more than 0'],
    ['gates: { timeout: 25h }', '1:19 gates.timeout: a time limit is at most a day'],
    [
      'gates: { timeout: .inf }',
      '1:19 gates.timeout: a time limit is a number of minutes, or has its unit, such as 90s or 1.5h, not Infinity',
    ],
    [
      'gates: { output: 10 potatoes }',
      '1:18 gates.output: a size is a number with its unit, such as 500KB, 10MB or 1GiB',
    ],
    ['gates: { output: 0MB }', '1:18 gates.output: a size is more than 0'],
    [
      'gates: { output: 1.5 }',
      '1:18 gates.output: a size is a number of bytes, or a number with its unit, such as 500KB, 10MB or 1GiB, not 1.5',
    ],
    ['target: refs/heads/main', '1:9 target: this is not the short name of a branch, such as main'],
    ['target: "-x"', '1:9 target: this is not the short name of a branch, such as main'],
    ['target: 1.0', '1:9 target: must be a text, not 1; put it in quotes'],
    ['ladder: text', '1:9 ladder: must be a list, not the text "text"'],
    ['ladder: []', '1:9 ladder: the first rung must be text'],
    ['ladder: [text, hand-over, patch]', '1:16 ladder[1]: hand-over must be the last rung'],
    ['ladder: [text, text]', '1:16 ladder[1]: the rung text is named twice'],
    [
      'ladder: [text, structure]',
      '1:16 ladder[1]: the rung structure is not available in this version; leave it out',
    ],
    [
      'ladder: [text, handover]',
      '1:16 ladder[1]: must be one of text, structure, patch, hand-over, not the text "handover"; did you mean hand-over?',
    ],
    ['generated:\n  - by: make', '2:5 generated[0].paths: must be a list, not nothing'],
    ['generated:\n  - paths: []', '2:12 generated[0].paths: name at least one pattern'],
    [
      'generated: [{ paths: [ok, ../x] }]',
      '1:27 generated[0].paths[1]: the pattern "../x" has an empty, `.` or `..` part; patterns start at the root of the repository',
    ],
    [
      'message: "{source}"',
      '1:10 message: {source} means nothing here; known are {sources}, {subjects}, {count}, {target}; a brace that is meant is doubled',
    ],
    ['- a', '1:1 : must be a section with keys, not a list'],
    ['verify: true\nverify: false', '2:1 verify: is given twice'],
    [
      '__proto__: { verify: true }',
      '1:1 __proto__: is not a setting; known here: target, gates, ladder, generated, snapshot, guards, message, push, verify',
    ],
  ])('%j: %s', (text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  it.each([
    ['verify: [', '1:10'],
    ['a: b: c', '1:4'],
    ['verify: true\n\tpush: 1', '2:1'],
    ['verify: true\n---\nverify: false', '2:1'],
    ['verify: !!js/function "x"', '1:9'],
    ['verify: *nothing', '1:1'],
  ])('says where %j is not YAML', (text, place) => {
    const problems = problemsOf(text);
    expect(problems[0]).toMatch(/this is not YAML: \S/);
    expect(problems[0]?.startsWith(place)).toBe(true);
  });

  it('refuses a text that grows without bounds', () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) => `x${i}: &a${i} [${`*a${i - 1},`.repeat(i === 0 ? 0 : 9)}1]`,
    );
    expect(problemsOf(levels.join('\n'))).not.toEqual([]);
  });
});
