// Installs the programs that tests start, if possible: `npm run test:tools`. Then names those still missing.
// `npm run test:tools -- npm-test` leaves out those of the slow tests.

import { isInstalled, PACKAGES, type Program, SLOW_ONLY } from './programs.ts'

/** Programs without which too many tests are skipped for a run to be meaningful. */
const REQUIRED: readonly Program[] = ['age', 'cc', 'certutil', 'chromium']

/** Returns the missing programs that a package contains. */
function missing(): Program[] {
  const all = Object.keys(PACKAGES) as Program[]
  const left = process.argv.includes('npm-test') ? SLOW_ONLY : []
  return all.filter(
    (program) => PACKAGES[program] !== null && !left.includes(program) && !isInstalled(program),
  )
}

function install(programs: readonly Program[]): void {
  const asRoot = process.geteuid?.() === 0 ? [] : ['sudo', '-n']
  // RUNLEVEL keeps packages of servers from starting them.
  const apt = [...asRoot, 'env', 'DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1', 'apt-get']
  run([...apt, 'update', '-q'])
  const lists = programs.map(packagesOf)
  const add = (packages: readonly string[]) =>
    run([...apt, 'install', '-qy', '--no-install-recommends', ...new Set(packages)])
  // Install one by one, because a package that is unavailable must not prevent the others.
  if (!add(lists.flat())) for (const list of lists) add(list)
}

/** Older releases of Debian have only the whole browser, not the headless shell. */
function packagesOf(program: Program): string[] {
  const packages = PACKAGES[program]?.split(' ') ?? []
  if (program !== 'chromium') return packages
  const isKnown = Bun.spawnSync(['apt-cache', 'show', ...packages]).success
  return isKnown ? packages : ['chromium']
}

function run(command: readonly string[]): boolean {
  return Bun.spawnSync([...command], { stdio: ['ignore', 'inherit', 'inherit'] }).success
}

const wanted = missing()
const installers = process.geteuid?.() === 0 ? ['apt-get'] : ['apt-get', 'sudo']
const absent = installers.filter((name) => Bun.which(name) === null)
if (absent.length > 0) console.log(`Nothing can be installed here without ${absent.join(' and ')}.`)
else if (wanted.length > 0) install(wanted)
const left = missing()
for (const program of left) console.log(`missing: ${program} (${PACKAGES[program]})`)
console.log(left.length === 0 ? 'All programs that tests start are installed.' : 'Their tests are skipped.')
process.exitCode = left.some((program) => REQUIRED.includes(program)) ? 1 : 0
