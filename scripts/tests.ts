// The phases of the tests: quick tests, tests that mostly wait, long tests, and tests that measure time
// alone.

import { join } from 'node:path'
import { Glob } from 'bun'
import recorded from './test-timings.json'

const PROJECT = join(import.meta.dir, '..')
/**
 * Approximate durations of files in milliseconds, written by `bun test --timings=FILE --update-timings`.
 */
const TIMINGS = join(import.meta.dir, 'test-timings.json')
const timings: { files: Record<string, number> } = recorded
/** Tests that need a desktop. */
const DESKTOP = 'test/desktop/'
/** Tests that read a release with the programs of package managers. */
const READERS = 'test/release/readers/'
/**
 * Files that take longer, and tests that need a desktop or package managers, are left to `npm run test:slow`.
 */
const LONG_MS = 20_000
/** Folders and files that start processes, browsers or servers, try thousands of cases, or wait. */
const SLOW = [
  'test/e2e/',
  'test/fuzz/',
  DESKTOP,
  READERS,
  'test/selftest/',
  'test/cli/',
  'test/client/',
  'test/contract/effort.test.ts',
  'test/http/intake/hostile-bodies.test.ts',
  'test/release/compile.test.ts',
  'test/importing/crashes.test.ts',
  'test/lan/mdns.test.ts',
  'test/importing/servers.test.ts',
  'test/importing/into-postgres.test.ts',
  'test/store/postgres/',
  'test/app/two-engines.test.ts',
  'test/app/two-nodes.test.ts',
  'test/app/postgres.test.ts',
  'test/pushes/large-archive.test.ts',
  'test/store/s3/bucket.test.ts',
  'test/store/sqlite/integrity/damage.test.ts',
]
/** Tests that measure time by the clock, which concurrent tests would distort. */
const ALONE = ['test/e2e/overload.test.ts']

export type Phase = { name: string; files: readonly string[]; workers: number }

const ALL: readonly string[] = [...new Glob('test/**/*.test.ts').scanSync(PROJECT)].sort()
const isSlow = (path: string) => ALONE.includes(path) || SLOW.some((place) => path.startsWith(place))

const WAITING = ALL.filter((path) => isSlow(path) && !ALONE.includes(path))
/** The duration of a file that runs beside six others, on two cores. */
const isLong = (path: string) =>
  [DESKTOP, READERS].some((place) => path.startsWith(place)) || (timings.files[path] ?? 0) > LONG_MS

/**
 * Tests that need no compiled binary, browser or server: the rules, the store and the contract.
 */
export const QUICK_TESTS: readonly string[] = ALL.filter((path) => !isSlow(path))

export const QUICK: Phase = { name: 'quick', files: QUICK_TESTS, workers: 4 }
/** Most of these tests wait two thirds of their time, so that seven at once keep two cores busy. */
export const SIDE_BY_SIDE: Phase = {
  name: 'side by side',
  files: WAITING.filter((path) => !isLong(path)),
  workers: 7,
}
/** The tests of `npm run test:slow`. */
export const LONG: Phase = { name: 'slow', files: WAITING.filter(isLong), workers: 7 }
/** Quick and slow tests in one phase, in which the short ones fill the gaps of the long ones. */
export const WHOLE: Phase = { name: 'side by side, with the slow ones', files: WAITING, workers: 7 }
export const BY_THEMSELVES: Phase = { name: 'alone', files: ALONE, workers: 1 }

/** Returns the command that runs one phase; `bun` is the path of Bun. */
export function commandOf({ files, workers }: Phase, bun: string): string[] {
  // Files in one worker share their imports, which take longer to load than most files take to run. The
  // slowest files start first, so that none runs alone at the end.
  const parallel = workers === 1 ? [] : [`--parallel=${workers}`, '--no-isolate', `--timings=${TIMINGS}`]
  return [bun, 'test', ...parallel, '--timeout', '300000', ...files.map((file) => `./${file}`)]
}
