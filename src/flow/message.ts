import type { Oid, OperationId } from '../model/ids.ts';
import { renderMessage } from '../model/message-template.ts';
import type { Objects } from '../ports/git.ts';
import type { LandSource } from './land-data.ts';

/** Longest first line of a commit message that is written here. */
const SUBJECT_LIMIT = 72;

/** The newest subject that somebody wrote in a source, or undefined when nothing in it was committed. */
async function subjectOf(objects: Objects, source: LandSource): Promise<string | undefined> {
  let at: Oid | undefined = source.snapshot;
  if (source.uncommitted) at = (await objects.readCommit(source.snapshot)).parents[0];
  if (at === undefined || at === source.base) return undefined;
  const subject = (await objects.readCommit(at)).message.split('\n')[0]?.trim() ?? '';
  return subject === '' || subject.startsWith('sennit: ') ? undefined : subject;
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** The message of a landing without its trailers: the user's own, the template's, or one made from the sources. */
export async function landingMessage(
  objects: Objects,
  sources: readonly LandSource[],
  target: string,
  given: string | null,
  template: string | null,
): Promise<string> {
  if (given !== null) return given.trim();
  const subjects = await Promise.all(sources.map((source) => subjectOf(objects, source)));
  const lines = sources.map(
    ({ name }, i) => `- ${name}${subjects[i] === undefined ? '' : `: ${subjects[i]}`}`,
  );
  const names = sources.map(({ name }) => oneLine(name));
  if (template !== null) {
    return renderMessage(template, {
      sources: names.join(', '),
      subjects: lines.join('\n'),
      count: String(names.length),
      target,
    }).trim();
  }
  const [only] = subjects;
  if (sources.length === 1) return only ?? `Land ${names[0]}`;
  const title = `Land ${listed(names)}`;
  return `${title.length <= SUBJECT_LIMIT ? title : `Land ${names.length} changes on ${target}`}\n\n${lines.join('\n')}`;
}

/** A line that git reads as a trailer: `Co-authored-by: B <b@example.com>`. */
const TRAILER = /^[A-Za-z0-9][A-Za-z0-9-]*: \S/;

/** A name on one line, so that no folder's name can write a line of its own into a message. */
function oneLine(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is replaced
  return name.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim();
}

/** A message with the trailers by which a landing names its operation and each source with its snapshot. They join the
 * trailers that the message ends with: git reads those of the last paragraph only. */
export function withTrailers(
  message: string,
  operation: OperationId,
  sources: readonly LandSource[],
): string {
  const trailers = [
    `Sennit-Operation: ${operation}`,
    ...sources.map(({ name, snapshot }) => `Sennit-Source: ${oneLine(name)} ${snapshot}`),
  ];
  const paragraphs = message.split(/\n{2,}/);
  const last = paragraphs.at(-1)?.split('\n') ?? [];
  const joins = paragraphs.length > 1 && last.every((line) => TRAILER.test(line) || /^\s+\S/.test(line));
  return `${message}${joins ? '\n' : '\n\n'}${trailers.join('\n')}\n`;
}
