// Lets a child process of a test run the sources as they are: `node --import typescript-loader.mjs`. Types are
// taken out file by file; they are checked elsewhere. The compiler takes longer to load than most children live,
// so what it gave is kept under the hash of what it was given. The file is evaluated twice, in the child's main
// thread, where it registers itself, and in the thread in which Node runs such hooks.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { register } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/sennit-test/', import.meta.url));

if (isMainThread) register(import.meta.url);

async function compile(text) {
  const file = `${CACHE}${createHash('sha256').update(text).digest('hex')}.mjs`;
  try {
    return readFileSync(file, 'utf8');
  } catch {
    const { default: typescript } = await import('typescript');
    const { outputText } = typescript.transpileModule(text, {
      compilerOptions: { target: 'es2023', module: 'esnext', verbatimModuleSyntax: true },
    });
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.${process.pid}`, outputText);
    renameSync(`${file}.${process.pid}`, file); // no other child reads half of it
    return outputText;
  }
}

export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  const text = readFileSync(fileURLToPath(url), 'utf8');
  return { format: 'module', source: await compile(text), shortCircuit: true };
}
