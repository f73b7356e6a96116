import { z } from 'zod';
import { settingsFileSchema } from '../config/schema.ts';
import { answerSchema, packetSchema } from './contract.ts';
import type { SchemaName } from './program.ts';

const SCHEMAS: Readonly<Record<SchemaName, z.ZodType>> = {
  config: settingsFileSchema,
  answer: answerSchema,
  conflicts: packetSchema,
};

/** The JSON Schema (2020-12) that is published under a name. */
export function renderSchema(name: SchemaName): Record<string, unknown> {
  // `input`: fields that a reader does not know are allowed where the schema does not say otherwise.
  return z.toJSONSchema(SCHEMAS[name], { io: 'input' });
}
