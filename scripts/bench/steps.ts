// What each step of a retrieve takes by itself, within this process and without a socket.

import { join } from 'node:path'
import '../../src/env.ts'
import { presentView } from '../../src/api/push-json.ts'
import { openInstance } from '../../src/app.ts'
import { newKeyFile, parseKeyFile } from '../../src/crypto/keyring.ts'
import { newDataKey, openSecrets, sealSecrets } from '../../src/crypto/push-secrets.ts'
import { lookupOf, newUrlToken } from '../../src/crypto/url-token.ts'
import { visitFrom } from '../../src/domain/audit.ts'
import { wholeMilliseconds } from '../../src/domain/time.ts'
import { readConfig } from '../../src/settings/fold.ts'
import type { StoredPush } from '../../src/store/face.ts'
import { createTestClock } from '../../test/support/instance.ts'
import { examplePush, openTestStore } from '../../test/support/store.ts'
import type { Step } from './report.ts'
import type { Sandbox } from './sandbox.ts'

/** Calls in a round. The first rounds are for the compiler; the median of the others counts. */
const CALLS = 3_000
const WARM_UP_ROUNDS = 4
const MEASURED_ROUNDS = 5
const AT_ONCE = 64
/** So many that no push loses its last view while it is measured. */
const MAX_VIEWS = 100_000
const PAYLOAD = 'correct horse battery staple 012'
const VISIT = visitFrom({ ip: '127.0.0.1', userAgent: 'oncebox-bench', referrer: '' })

export async function measureSteps(sandbox: Sandbox): Promise<Step[]> {
  console.error('… the steps of a retrieve')
  const { sealing: instanceKey } = parseKeyFile(newKeyFile())
  const urlToken = newUrlToken()
  const pushId = lookupOf(urlToken, instanceKey.lookup)
  const opener = { instanceKey, pushId, urlToken, passphraseKey: null }
  const plain = { payload: PAYLOAD, dataKey: newDataKey() }
  const sealed = { ...sealSecrets(plain, opener), passphraseSalt: null }
  const push = examplePush(Date.now(), { expireAfterViews: 1_000_000 })
  const view = { push, urlToken, payload: PAYLOAD, files: [] }
  const options = { baseUrl: 'http://localhost:5100', now: push.createdAt }
  return [
    {
      name: 'find it (HMAC of its link)',
      microseconds: await time(() => lookupOf(urlToken, instanceKey.lookup)),
    },
    {
      name: 'derive its key and open it (HKDF, AES-256-GCM)',
      microseconds: await time(() => openSecrets(sealed, opener)),
    },
    { name: 'seal one (of a create)', microseconds: await time(() => sealSecrets(plain, opener)) },
    ...(await measureStore(join(sandbox.folder, 'data-steps'))),
    { name: 'present it (JSON)', microseconds: await time(() => JSON.stringify(presentView(view, options))) },
    ...(await measureDoor(join(sandbox.folder, 'data-door'))),
  ]
}

async function measureStore(dataDir: string): Promise<Step[]> {
  const { store, close } = await openTestStore({ dataDir, clock: createTestClock(Date.now()) })
  const { sealing: instanceKey } = store.keyring
  const made: StoredPush[] = []
  for (let n = 0; n < AT_ONCE; n += 1) {
    const urlToken = newUrlToken()
    const lookup = lookupOf(urlToken, instanceKey.lookup)
    const opener = { instanceKey, pushId: lookup, urlToken, passphraseKey: null }
    const secrets = {
      ...sealSecrets({ payload: PAYLOAD, dataKey: newDataKey() }, opener),
      passphraseSalt: null,
    }
    const common = {
      lookup,
      keyNumber: instanceKey.number,
      secrets,
      labels: null,
      files: [],
      visit: VISIT,
      idempotency: null,
      share: null,
    }
    made.push(
      await store.pushes.createPush({
        push: examplePush(Date.now(), { expireAfterViews: 1_000_000 }),
        ownerResets: 0,
        ...common,
      }),
    )
  }
  let turn = 0
  const next = () => made[turn++ % made.length] as StoredPush
  const view = async () => {
    const found = await store.pushes.findSealedPush(next().lookup)
    return store.pushes.claimView({ id: found?.push.id ?? 0, visit: VISIT, lookBy: null })
  }
  const claim = await time(view)
  const refuse = await time(() =>
    store.pushes.refusePassphrase({ id: next().id, visit: VISIT, wrong: false, maxTries: 0 }),
  )
  const claimAfter = await time(view)
  await close()
  const durably = `durably (${AT_ONCE} at once)`
  return [
    { name: `read its rows and claim the view, ${durably}`, microseconds: claim },
    { name: `write down a failed visit, ${durably}`, microseconds: refuse },
    { name: `claim a view of a push with failed visits, ${durably}`, microseconds: claimAfter },
  ]
}

/** A whole retrieve in this process, and a page of text that needs no service, which leaves what is around both. */
async function measureDoor(dataDir: string): Promise<Step[]> {
  const instance = await openBenchInstance(dataDir)
  /** From another machine, because loopback has no limit. */
  async function ask(path: string, init: RequestInit = {}): Promise<string> {
    const headers = { host: 'localhost', 'content-type': 'application/json' }
    const request = new Request(`http://localhost:5100${path}`, { ...init, headers })
    const response = await instance.handle(request, '192.0.2.1')
    const text = await response.text()
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${text}`)
    return text
  }
  const body = JSON.stringify({ push: { payload: PAYLOAD, expire_after_views: MAX_VIEWS } })
  const links: string[] = []
  for (let n = 0; n < AT_ONCE; n += 1) {
    const { url_token } = JSON.parse(await ask('/api/v2/pushes', { method: 'POST', body }))
    links.push(`/api/v2/pushes/${url_token}`)
  }
  let turn = 0
  const nextLink = () => links[turn++ % AT_ONCE] ?? ''
  const around = await time(() => ask('/robots.txt'))
  const preview = await time(() => ask(`${nextLink()}/preview`))
  const retrieve = await time(() => ask(nextLink()))
  await instance.close()
  return [
    { name: 'parse, limit, route, answer and log a request', microseconds: around },
    { name: 'the same for a preview, which also finds its push', microseconds: preview },
    { name: `a whole retrieve, durably (${AT_ONCE} at once)`, microseconds: retrieve },
  ]
}

function openBenchInstance(dataDir: string) {
  const views = ['expire-after-views-max', 'expire-after-views-default'].map((flag) => [
    flag,
    [`${MAX_VIEWS}`],
  ])
  const flags = { 'data-dir': [dataDir], 'min-free-space': ['0'], ...Object.fromEntries(views) }
  const place = { env: {}, platform: process.platform, home: dataDir, cwd: dataDir }
  const { config, problems } = readConfig({ flags, place, readFile: () => '' })
  if (config === undefined)
    throw new Error(`the settings of the benchmark do not fit: ${problems?.join('; ')}`)
  const rateLimit = { requests: 1e9, seconds: 10 }
  const ports = {
    now: Date.now,
    uptime: () => wholeMilliseconds(performance.now()),
    writeLog: () => undefined,
    network: { listAddresses: () => [], hostName: () => 'box' },
    rateLimit,
  }
  return openInstance({ config, settings: [] }, ports)
}

/** Microseconds of one call, measured over many: the median of the rounds that follow the warm-up. */
async function time(work: () => unknown): Promise<number> {
  const rounds: number[] = []
  for (let n = 0; n < WARM_UP_ROUNDS + MEASURED_ROUNDS; n += 1) {
    const started = performance.now()
    for (let done = 0; done < CALLS; done += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, work))
    rounds.push(((performance.now() - started) * 1000) / (Math.ceil(CALLS / AT_ONCE) * AT_ONCE))
  }
  const measured = rounds.slice(WARM_UP_ROUNDS).sort((a, b) => a - b)
  return measured[Math.floor(MEASURED_ROUNDS / 2)] ?? 0
}
