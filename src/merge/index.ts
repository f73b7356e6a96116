// The pure half of merging, without git, disk or clock: `sennit/merge`.

export { type Attempt, type Climb, climb, type Rung } from './ladder.ts';
export { restoreLineEnds } from './line-ends.ts';
export { checkLines, type LineVerdict } from './lines.ts';
export { countMarkers, takeSections } from './markers.ts';
export { planOrder } from './order.ts';
export { movedDirectories, PathIndex } from './overlap.ts';
export { type MergeFacts, type Verification, verifyPaths } from './verify.ts';
