import { defineConfig } from 'vitest/config';

const seconds = 1000;

/** One project per kind of test, so that each can be run alone: `vitest run --project safety`. */
function project(name: string, include: string, timeout: number) {
  return {
    extends: true as const,
    test: {
      name,
      include: [include],
      testTimeout: timeout,
      hookTimeout: timeout,
    },
  };
}

export default defineConfig({
  test: {
    environment: 'node',
    globals: false,
    pool: 'forks',
    maxWorkers: 2,
    passWithNoTests: true,
    restoreMocks: true,
    unstubEnvs: true,
    teardownTimeout: 10 * seconds,
    reporters: ['default', 'json'],
    outputFile: { json: process.env['SENNIT_VITEST_JSON'] ?? 'test-results/vitest.json' },
    projects: [
      project('unit', 'src/**/*.test.ts', 10 * seconds),
      project('integration', 'test/integration/**/*.test.ts', 60 * seconds),
      project('safety', 'test/safety/**/*.test.ts', 60 * seconds),
      project('property', 'test/property/**/*.test.ts', 120 * seconds),
      project('e2e', 'test/end-to-end/**/*.test.ts', 60 * seconds),
    ],
  },
});
