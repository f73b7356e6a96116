/** The paths that a message does not name already, so that none is printed twice and none is left out. */
export function findUnnamedPaths(message: string, paths: readonly string[]): string[] {
  const words = new Set(message.split(/[\s,;]+/).map((word) => word.replace(/^["'`(]+|["'`).:]+$/g, '')));
  return paths.filter((path) => !words.has(path) && !(/[\s,;"'`():]/.test(path) && message.includes(path)));
}
