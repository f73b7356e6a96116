/** The fields that a commit message template may hold, with what each stands for. */
export const MESSAGE_FIELDS = {
  sources: 'names of the sources, with commas',
  subjects: 'one line for each source: its name and the subject of its newest commit',
  count: 'number of sources',
  target: 'branch that the commit lands on',
} as const;

export type MessageField = keyof typeof MESSAGE_FIELDS;

const FIELD = /\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

function isMessageField(name: string): name is MessageField {
  return Object.hasOwn(MESSAGE_FIELDS, name);
}

/** Names in braces that a template holds and that mean nothing, each once, in order. */
export function findUnknownFields(template: string): string[] {
  const unknown = new Set<string>();
  for (const [, name] of template.matchAll(FIELD)) {
    if (name !== undefined && !isMessageField(name)) unknown.add(name);
  }
  return [...unknown];
}

/** The commit message that a template gives: `{count}` becomes its value, `{{` and `}}` become single braces, and
 * everything else stays as it is. Values are put in as they are and not searched for fields again. */
export function renderMessage(template: string, values: Readonly<Record<MessageField, string>>): string {
  return template.replace(FIELD, (whole, name: string | undefined) => {
    if (name === undefined) return whole.slice(1);
    return isMessageField(name) ? values[name] : whole;
  });
}
