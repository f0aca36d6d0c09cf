// Measures creates, retrievals and pages of servers on a new folder and on one with many pushes.

import { join } from 'node:path'
import { fillFolder } from './fill.ts'
import type { Requests } from './load.ts'
import { type Bench, measureRates, measureShares, runRequests } from './measure.ts'
import { residentMebibytes, settle } from './processes.ts'
import { creates, createTokens, gets, randomRetrieves, retrieves, type Tokens } from './requests.ts'
import { measureFirstAnswer, type Running, startOncebox } from './servers.ts'
import { targets } from './targets.ts'

/** More pushes than the retrievals of a run of the default length use up. */
const PREPARED = 20_000
const MILLION = 1e6

export interface Subject {
  readonly binary: string
  readonly dataDir: string
  readonly server: Running
  readonly tokens: Tokens
}

/** Starts each binary on a new folder. */
export function startSubjects(
  { binaries, sandbox, cores }: Bench,
  { name, isTls = false }: { name: string; isTls?: boolean },
): Promise<Subject[]> {
  return Promise.all(
    binaries.map(async (binary, n) => {
      const dataDir = join(sandbox.folder, `${name}-${n}`)
      const server = await startOncebox({ sandbox, binary, dataDir, prefix: cores.serverPrefix, isTls })
      return { binary, dataDir, server, tokens: createTokens() }
    }),
  )
}

export async function measureNewFolder(bench: Bench, subjects: readonly Subject[]): Promise<void> {
  const base = gets(bench.bare, '/')
  await measureShares(bench, {
    what: "creates, of a bare server's rate",
    wanted: targets.creates,
    of: subjects.map(({ server, tokens }) => ({ load: creates(server, tokens), base })),
  })
  await prepare(subjects)
  await measureShares(bench, {
    what: "retrieves, of a bare server's rate",
    wanted: targets.retrieves,
    of: subjects.map(({ server, tokens }) => ({ load: retrieves(server, tokens), base })),
  })
}

/** Let each subject have enough pushes to retrieve afterwards. */
async function prepare(subjects: readonly Subject[]): Promise<void> {
  for (const { server, tokens } of subjects)
    await runRequests(creates(server, tokens), PREPARED - tokens.count())
}

export async function measureTls(bench: Bench, plain: readonly Subject[]): Promise<void> {
  const subjects = await startSubjects(bench, { name: 'tls', isTls: true })
  await prepare(subjects)
  await measureShares(bench, {
    what: 'retrieves over TLS, of those over plain http',
    wanted: targets.tls,
    of: pairsOf(subjects, plain, { load: retrieves, base: retrieves }),
  })
  for (const { server } of subjects) await server.stop()
}

/** Measures the pages. Opening a page counts no view, so the pushes stay unchanged. */
export async function measurePages(bench: Bench, subjects: readonly Subject[]): Promise<void> {
  const isPage = (body: Buffer) => body.includes('</html>')
  await measureRates(bench, {
    what: 'create pages',
    wanted: targets.createPage,
    of: subjects.map(({ server }) => gets(server, '/', isPage)),
  })
  await measureRates(bench, {
    what: 'secret link pages',
    wanted: targets.linkPage,
    of: subjects.map(({ server, tokens }) => gets(server, `/p/${tokens.at(0)}/r`, isPage)),
  })
}

/** Measures in turns with the servers on new folders. */
export async function measureAmong(
  bench: Bench,
  { fresh, among }: { fresh: readonly Subject[]; among: number },
): Promise<void> {
  const number = among.toLocaleString('en')
  console.error(`… filling a folder with ${number} pushes`)
  const full: Subject[] = []
  const firstAnswers: number[] = []
  for (const subject of await startSubjects(bench, { name: 'full' })) {
    const server = await fill(bench, subject, among)
    firstAnswers.push(await measureFirstAnswer(server))
    await settle(server.pid)
    full.push({ ...subject, server })
  }
  await measureShares(bench, {
    what: `retrieves among ${number} pushes, of those in a new folder`,
    wanted: targets.retrievesAmong,
    of: pairsOf(full, fresh, { load: randomRetrieves, base: retrieves }),
  })
  await measureShares(bench, {
    what: `creates among ${number} pushes, of those in a new folder`,
    wanted: targets.createsAmong,
    of: pairsOf(full, fresh, { load: creates, base: creates }),
  })
  const cells = firstAnswers.map((measured) => ({ measured }))
  const what = `first answer after a start among ${number} pushes`
  bench.addRow({ what, unit: 'ms', wanted: targets.firstAnswerAmong, cells })
  for (const { server } of full) await server.stop()
}

/** Fills a folder with copies of one push while its server is stopped, and starts it again. */
async function fill({ sandbox, cores }: Bench, subject: Subject, among: number): Promise<Running> {
  const { binary, dataDir, server, tokens } = subject
  await runRequests(creates(server, tokens), 1)
  await server.stop()
  fillFolder(dataDir, { tokens, until: among })
  return startOncebox({ sandbox, binary, dataDir, prefix: cores.serverPrefix })
}

type MakeLoad = (server: Running, tokens: Tokens) => Requests

function pairsOf(
  subjects: readonly Subject[],
  others: readonly Subject[],
  make: { load: MakeLoad; base: MakeLoad },
): { load: Requests; base: Requests }[] {
  return subjects.flatMap(({ server, tokens }, n) => {
    const other = others[n]
    if (other === undefined) return []
    return [{ load: make.load(server, tokens), base: make.base(other.server, other.tokens) }]
  })
}

/** Measures after all requests to the servers on new folders, or after a million. */
export async function measureLoadedMemory(
  bench: Bench,
  { subjects, untilMillion }: { subjects: readonly Subject[]; untilMillion: boolean },
): Promise<void> {
  console.error('… memory after requests')
  const cells = []
  for (const { server, tokens } of subjects) {
    const sent = bench.sent.get(server.pid) ?? 0
    const missing = untilMillion ? Math.max(0, MILLION - sent) : 0
    await runRequests(creates(server, tokens), Math.floor(missing / 2))
    await runRequests(randomRetrieves(server, tokens), Math.ceil(missing / 2))
    const remark = `after ${(sent + missing).toLocaleString('en')} requests`
    cells.push({ measured: residentMebibytes(server.pid), remark })
  }
  bench.addRow({
    what: 'resident memory after a million requests',
    unit: 'MiB',
    wanted: targets.loadedMemory,
    cells,
  })
}
