// Loaded into a measured process with `node --import`: writes its peak resident memory, in kilobytes, to the file that
// SENNIT_BENCH_PEAK names when the process ends.

import { writeFileSync } from 'node:fs';

const file = process.env.SENNIT_BENCH_PEAK;
if (file !== undefined) process.on('exit', () => writeFileSync(file, String(process.resourceUsage().maxRSS)));
