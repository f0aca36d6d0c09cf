// Tests the promises of Oncebox on this machine and disk: races, kills under load, and a search of the remaining files.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createLedger } from './ledger.ts'
import { checkRest, createDraw, type Draw, type LoadOptions, runLoad } from './load.ts'
import { readFolder, runCommand, type Self, type Server, startServer } from './server.ts'

/** One promise: what was tested, and each fault found. */
export type Finding = { promise: string; tried: string; faults: string[] }

export type SelftestOptions = {
  self: Self
  /** A folder on the disk to test. The test creates its own folder beside it and removes that. */
  dataDir: string
  /** How long to kill servers under load, in milliseconds. */
  duration: number
  seed: number
  /** Called with the name of each step, to show progress. */
  onStep: (step: string) => void
}

const ACCOUNT = 'selftest@localhost'
const RACED_PUSHES = 24
const READERS = 12
const MAX_CHECKED = 300
const MAX_FAULTS_SHOWN = 5
const VANISH_MS = 12_000
const RESTART_MS = 5000
/** How long the first start takes at most on a machine that has nothing else to do. */
const USUAL_START_MS = 500
const MAX_SLOWNESS = 10
/** A slow disk gets more time, so that the load is large enough to contain each kind of request. */
const LEAST_ANSWERS = 200
const SLOW_DISK_MS = 10_000

/** Throws when a server does not start. */
export async function runSelftest(options: SelftestOptions): Promise<Finding[]> {
  const parent = dirname(options.dataDir)
  mkdirSync(parent, { recursive: true })
  const dataDir = mkdtempSync(join(parent, 'oncebox-selftest-'))
  const removeFolder = () => rmSync(dataDir, { recursive: true, force: true })
  process.once('exit', removeFolder)
  try {
    return await tryPromises({ ...options, dataDir })
  } finally {
    removeFolder()
  }
}

async function tryPromises(options: SelftestOptions): Promise<Finding[]> {
  const { self, dataDir, seed, onStep } = options
  const draw = createDraw(seed)
  const mark = `selftest-${seed}-${draw(1e9)}`
  const place = { self, dataDir }
  onStep('starting a server')
  const started = performance.now()
  let server = await startServer(place)
  // A machine that is busy with other things breaks no promise by that.
  const slowness = Math.min(MAX_SLOWNESS, Math.max(1, (performance.now() - started) / USUAL_START_MS))
  await runCommand(place, ['user', 'add', ACCOUNT, '--password-stdin'], `${mark} password`)
  const auth = { authorization: `Bearer ${await runCommand(place, ['token', 'create', ACCOUNT])}` }
  onStep('racing readers against views')
  const races = await raceReaders({ server, draw, mark })
  onStep('guessing a passphrase')
  const guesses = await guessPassphrase(server, mark)
  const kills = await killUnderLoad({ ...options, server, draw, mark, auth, slowness })
  server = kills.server
  onStep('searching the files for secrets')
  const secrets = findSecrets(dataDir, mark)
  onStep('expiring everything, and searching again')
  const vanished = await expireAll({ ...kills.load, server }, dataDir, VANISH_MS * slowness)
  const stopped = await server.end('SIGTERM')
  const logged = (await server.log).includes(mark) ? ['the log contains a payload'] : []
  const orderly = stopped === 0 ? [] : [`the server ended with ${stopped}`]
  return [
    races,
    guesses,
    ...kills.findings,
    { ...secrets, faults: [...secrets.faults, ...logged] },
    { ...vanished, faults: [...vanished.faults, ...orderly] },
  ].map(shorten)
}

/** Of many concurrent readers, exactly as many get the payload as there are views. */
async function raceReaders({
  server,
  draw,
  mark,
}: {
  server: Server
  draw: Draw
  mark: string
}): Promise<Finding> {
  const faults: string[] = []
  let retrievals = 0
  for (let round = 0; round < RACED_PUSHES; round += 1) {
    const views = 1 + draw(5)
    const payload = `${mark} race ${round}`
    const { url_token } = await (await server.create({ payload, expire_after_views: views })).json()
    const read = async () => (await (await server.retrieve(url_token)).json()).payload === payload
    const got = await Promise.all(Array.from({ length: views * READERS }, read))
    retrievals += got.length
    const payloads = got.filter(Boolean).length
    if (payloads !== views) faults.push(`${payloads} payloads for ${views} views`)
  }
  const tried = `${RACED_PUSHES} pushes, ${retrievals} retrievals at once`
  return { promise: 'Exactly as many payloads as views', tried, faults }
}

async function guessPassphrase(server: Server, mark: string): Promise<Finding> {
  const passphrase = `${mark} right`
  const { url_token } = await (await server.create({ payload: mark, passphrase })).json()
  const attempt = (text: string) =>
    server.retrieve(url_token, { headers: { 'x-push-passphrase': encodeURIComponent(text) } })
  const statuses: number[] = []
  for (let n = 0; n < 5; n += 1) statuses.push((await attempt(`wrong ${n}`)).status)
  statuses.push((await attempt(passphrase)).status)
  const wanted = '401 401 401 401 401 429'
  const faults = statuses.join(' ') === wanted ? [] : [`answered ${statuses.join(' ')}, not ${wanted}`]
  return { promise: 'Passphrases cannot be guessed', tried: '5 wrong ones, then the right one', faults }
}

type KillOptions = SelftestOptions &
  Pick<LoadOptions, 'server' | 'draw' | 'mark' | 'auth'> & {
    /** How many times as long as usual things take on this machine. */
    slowness: number
  }

/** Repeatedly kills the server under load. After each restart, all acknowledged changes must exist. */
async function killUnderLoad(options: KillOptions) {
  const { self, dataDir, duration, draw, mark, auth, slowness, onStep } = options
  const limit = RESTART_MS * slowness
  const ledger = createLedger()
  const ends = performance.now() + duration
  let { server } = options
  let kills = 0
  let answers = 0
  let checked = 0
  const restartFaults: string[] = []
  do {
    onStep(`killing a server under load (${kills} times, ${answers} answers so far)`)
    let killed = false
    const load = runLoad({ server, ledger, draw, mark, auth }, () => killed)
    await Bun.sleep(30 + draw(1200))
    killed = true
    await server.end('SIGKILL')
    kills += 1
    answers += await load
    const started = performance.now()
    server = await startServer({ self, dataDir })
    if (performance.now() - started > limit)
      restartFaults.push(`a restart took longer than ${Math.round(limit / 1000)} s`)
    checked += await checkRest({ server, ledger, draw, mark, auth }, MAX_CHECKED)
  } while (performance.now() < ends || (answers < LEAST_ANSWERS && performance.now() < ends + SLOW_DISK_MS))
  const findings: Finding[] = [
    {
      promise: 'What was acknowledged survives kill -9',
      tried: `${kills} kills, ${answers} answers, ${checked} pushes checked`,
      faults: ledger.faults,
    },
    { promise: 'It starts again by itself', tried: `${kills} restarts`, faults: restartFaults },
  ]
  return { server, findings, load: { ledger, draw, mark, auth } }
}

/** Finds plaintext secrets, and files that other users of the machine can read. */
function findSecrets(dataDir: string, mark: string): Finding {
  const spellings = [
    mark,
    Buffer.from(mark, 'utf16le').toString('latin1'),
    Buffer.from(mark).toString('hex'),
    btoa(mark).slice(0, -4),
  ]
  const files = readFolder(dataDir)
  const open = files.filter(({ mode }) => process.platform !== 'win32' && (mode & 0o077) !== 0)
  const faults = [
    ...files.flatMap(({ path, bytes }) =>
      spellings.some((text) => bytes.includes(Buffer.from(text, 'latin1')))
        ? [`${path} holds a secret in the clear`]
        : [],
    ),
    ...open.map(({ path }) => `${path} can be read by other users`),
  ]
  const size = files.reduce((sum, { bytes }) => sum + bytes.length, 0)
  return { promise: 'Nothing on the disk can be read', tried: `${files.length} files, ${size} bytes`, faults }
}

/** Expires all pushes, and checks that the write-ahead log becomes empty within `patience` milliseconds. */
async function expireAll(load: LoadOptions, dataDir: string, patience: number): Promise<Finding> {
  // Make sure there is at least one push, even if each server was killed too early to create one.
  const payload = `${load.mark} to expire`
  const { url_token } = await (await load.server.create({ payload, expire_after_views: 1 })).json()
  load.ledger.known.set(url_token, { payload, views: 1, seen: 0, lost: 0, deleted: 'no' })
  const pushes = await checkRest(load, Number.POSITIVE_INFINITY)
  const deadline = performance.now() + patience
  const leftovers = () =>
    readFolder(dataDir).filter(({ path, bytes }) =>
      path.startsWith(join(dataDir, 'files')) ? true : path.endsWith('-wal') && bytes.length > 0,
    )
  // The files of a last view stay for their downloads, so check only the log.
  while (leftovers().some(({ path }) => path.endsWith('-wal')) && performance.now() < deadline)
    await Bun.sleep(250)
  const faults = leftovers()
    .filter(({ path }) => path.endsWith('-wal'))
    .map(({ path, bytes }) => `${path} still contains ${bytes.length} bytes`)
  return { promise: 'What has expired is destroyed', tried: `${pushes} pushes, the write-ahead log`, faults }
}

function shorten(finding: Finding): Finding {
  const { faults } = finding
  const rest = faults.length - MAX_FAULTS_SHOWN
  return rest > 0
    ? { ...finding, faults: [...faults.slice(0, MAX_FAULTS_SHOWN), `and ${rest} more`] }
    : finding
}
