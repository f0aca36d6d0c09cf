// Tests the promises of Oncebox on this machine and disk: races, kills under load, and a search of the
// remaining files.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createLedger } from './ledger.ts'
import { checkRest, createDraw, type Load, runLoad } from './load.ts'
import { readFolder, runCommand, type Self, startServer } from './server.ts'

/** The result of testing one promise: what was tried, and each fault that was found. */
type PromiseResult = { promise: string; tried: string; faults: string[] }

type SelftestOptions = {
  self: Self
  /** A folder on the disk to test. The test creates its own folder beside it and removes that. */
  dataDir: string
  /** How long to kill servers under load, in milliseconds. */
  duration: number
  seed: number
  /** Called with the name of each step, to show progress. */
  onStep: (step: string) => void
}

/** `slowness`: how many times slower than usual this machine is. */
type Trial = Omit<SelftestOptions, 'seed'> & Load & { slowness: number }

const ACCOUNT = 'selftest@localhost'
const RACED_PUSHES = 24
const READERS = 12
const MAX_CHECKED = 300
const MAX_FAULTS_SHOWN = 5
const VANISH_MS = 12_000
const RESTART_MS = 5000
/** The longest first start on an idle machine. */
const USUAL_START_MS = 500
const MAX_SLOWNESS = 10
/** A slow disk gets more time, so that the load is large enough to contain each kind of request. */
const LEAST_ANSWERS = 200
const SLOW_DISK_MS = 10_000

/** Throws when a server does not start. */
export async function runSelftest(options: SelftestOptions): Promise<PromiseResult[]> {
  const parent = dirname(options.dataDir)
  mkdirSync(parent, { recursive: true })
  const dataDir = mkdtempSync(join(parent, 'oncebox-selftest-'))
  const removeFolder = () => rmSync(dataDir, { recursive: true, force: true })
  process.once('exit', removeFolder)
  try {
    options.onStep('starting a server')
    const trial = await startTrial({ ...options, dataDir })
    const findings: PromiseResult[] = []
    for (const [step, attempt] of PROMISES) {
      options.onStep(step)
      findings.push(...[await attempt(trial)].flat())
    }
    return findings.map(shorten)
  } finally {
    removeFolder()
  }
}

const PROMISES: [step: string, attempt: (trial: Trial) => Promise<PromiseResult | PromiseResult[]>][] = [
  ['racing readers against views', raceReaders],
  ['guessing a passphrase', guessPassphrase],
  ['killing a server under load', killUnderLoad],
  ['searching the files for secrets', findSecrets],
  ['expiring everything, and searching again', expireAll],
]

async function startTrial({ seed, ...options }: SelftestOptions): Promise<Trial> {
  const draw = createDraw(seed)
  const mark = `selftest-${seed}-${draw(1e9)}`
  const started = performance.now()
  const server = await startServer(options)
  // A busy machine may be slow: that breaks no promise.
  const slowness = Math.min(MAX_SLOWNESS, Math.max(1, (performance.now() - started) / USUAL_START_MS))
  await runCommand(options, ['user', 'add', ACCOUNT, '--password-stdin'], `${mark} password`)
  const auth = { authorization: `Bearer ${await runCommand(options, ['token', 'create', ACCOUNT])}` }
  return { ...options, server, ledger: createLedger(), draw, mark, auth, slowness }
}

/** Races many readers of a push. Exactly as many must get the payload as there are views. */
async function raceReaders({ server, draw, mark }: Trial): Promise<PromiseResult> {
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

async function guessPassphrase({ server, mark }: Trial): Promise<PromiseResult> {
  const right = `${mark} right`
  const { url_token } = await (await server.create({ payload: mark, passphrase: right })).json()
  const statuses: number[] = []
  for (const passphrase of ['1', '2', '3', '4', '5', right]) {
    const headers = { 'x-push-passphrase': encodeURIComponent(passphrase) }
    statuses.push((await server.retrieve(url_token, { headers })).status)
  }
  const wanted = '401 401 401 401 401 429'
  const faults = statuses.join(' ') === wanted ? [] : [`answered ${statuses.join(' ')}, not ${wanted}`]
  return { promise: 'Passphrases cannot be guessed', tried: '5 wrong ones, then the right one', faults }
}

/** Kills the server under load repeatedly. After each restart, all acknowledged changes must exist. */
async function killUnderLoad(trial: Trial): Promise<PromiseResult[]> {
  const limit = RESTART_MS * trial.slowness
  const ends = performance.now() + trial.duration
  const restartFaults: string[] = []
  let [kills, answers, checked] = [0, 0, 0]
  do {
    trial.onStep(`killing a server under load (${kills} times, ${answers} answers so far)`)
    let killed = false
    const load = runLoad(trial, () => killed)
    await Bun.sleep(30 + trial.draw(1200))
    killed = true
    await trial.server.end('SIGKILL')
    kills += 1
    answers += await load
    const started = performance.now()
    trial.server = await startServer(trial)
    if (performance.now() - started > limit)
      restartFaults.push(`a restart took longer than ${Math.round(limit / 1000)} s`)
    checked += await checkRest(trial, MAX_CHECKED)
  } while (performance.now() < ends || (answers < LEAST_ANSWERS && performance.now() < ends + SLOW_DISK_MS))
  const tried = `${kills} kills, ${answers} answers, ${checked} pushes checked`
  return [
    { promise: 'What was acknowledged survives kill -9', tried, faults: [...trial.ledger.faults] },
    { promise: 'It starts again by itself', tried: `${kills} restarts`, faults: restartFaults },
  ]
}

/** Finds plaintext secrets, and files that other users of the machine can read. */
async function findSecrets({ dataDir, mark }: Trial): Promise<PromiseResult> {
  const spellings = [
    ...[Buffer.from(mark), Buffer.from(mark, 'utf16le')],
    ...[Buffer.from(mark).toString('hex'), btoa(mark).slice(0, -4)],
  ]
  const files = readFolder(dataDir)
  const faults = files.flatMap(({ path, bytes, mode }) => [
    ...(spellings.some((text) => bytes.includes(text)) ? [`${path} holds a secret in the clear`] : []),
    ...(process.platform !== 'win32' && mode & 0o077 ? [`${path} can be read by other users`] : []),
  ])
  const size = files.reduce((sum, { bytes }) => sum + bytes.length, 0)
  return { promise: 'Nothing on the disk can be read', tried: `${files.length} files, ${size} bytes`, faults }
}

/** Expires all pushes, checks that the WAL is truncated in time, and stops the server. */
async function expireAll(trial: Trial): Promise<PromiseResult> {
  const { server, ledger, dataDir, mark, slowness } = trial
  // Create at least one push, in case each server was killed before it created one.
  const payload = `${mark} to expire`
  const { url_token } = await (await server.create({ payload, expire_after_views: 1 })).json()
  ledger.known.set(url_token, { payload, views: 1, seen: 0, lost: 0, deleted: 'no' })
  const pushes = await checkRest(trial, Number.POSITIVE_INFINITY)
  const deadline = performance.now() + VANISH_MS * slowness
  // Check only the WAL: the files of a last view are kept for their downloads.
  const leftovers = () =>
    readFolder(dataDir).filter(({ path, bytes }) => path.endsWith('-wal') && bytes.length > 0)
  while (leftovers().length > 0 && performance.now() < deadline) await Bun.sleep(250)
  const faults = leftovers().map(({ path, bytes }) => `${path} still contains ${bytes.length} bytes`)
  const code = await server.end('SIGTERM')
  if (code !== 0) faults.push(`the server ended with ${code}`)
  if ((await server.log).includes(mark)) faults.push('the log contains a payload')
  return { promise: 'What has expired is destroyed', tried: `${pushes} pushes, the write-ahead log`, faults }
}

function shorten(finding: PromiseResult): PromiseResult {
  const { faults } = finding
  const rest = faults.length - MAX_FAULTS_SHOWN
  if (rest <= 0) return finding
  return { ...finding, faults: [...faults.slice(0, MAX_FAULTS_SHOWN), `and ${rest} more`] }
}
