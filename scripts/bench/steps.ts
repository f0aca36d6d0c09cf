// What each step of a retrieve takes by itself, within this process and without a socket.

import { join } from 'node:path'
import '../../src/env.ts'
import { openInstance } from '../../src/app.ts'
import { newKeyFile, parseKeyFile } from '../../src/crypto/keyring.ts'
import { newDataKey, openSecrets, sealSecrets } from '../../src/crypto/push-secrets.ts'
import { lookupOf, newUrlToken } from '../../src/crypto/url-token.ts'
import { presentView } from '../../src/http/api/push-json.ts'
import { readConfig } from '../../src/settings/fold.ts'
import type { StoredPush } from '../../src/store/sqlite/pushes/pushes.ts'
import { createTestClock } from '../../test/support/instance.ts'
import { examplePush, openTestStore } from '../../test/support/store.ts'
import type { Step } from './report.ts'
import type { Sandbox } from './sandbox.ts'

const ROUNDS = 3_000
const AT_ONCE = 64
const PAYLOAD = 'correct horse battery staple 012'
const VISIT = { ip: '127.0.0.1', userAgent: 'oncebox-bench', referrer: '' }

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
        ...common,
      }),
    )
  }
  let turn = 0
  const next = () => made[turn++ % made.length] as StoredPush
  const open = () => ({ content: null, isOwnLook: false })
  const claim = await time(() => store.pushes.claimView({ lookup: next().lookup, visit: VISIT, open }))
  const refuse = await time(() =>
    store.pushes.refusePassphrase({ id: next().id, visit: VISIT, wrong: false, maxTries: 0 }),
  )
  const claimAfter = await time(() => store.pushes.claimView({ lookup: next().lookup, visit: VISIT, open }))
  await close()
  const durably = `durably (${AT_ONCE} at once)`
  return [
    { name: `read its rows and claim the view, ${durably}`, microseconds: claim },
    { name: `write down a failed visit, ${durably}`, microseconds: refuse },
    { name: `claim a view of a push with failed visits, ${durably}`, microseconds: claimAfter },
  ]
}

/** Everything around: parsing, limits, routing, log line, answer. */
async function measureDoor(dataDir: string): Promise<Step[]> {
  const flags = { 'data-dir': [dataDir], 'min-free-space': ['0'] }
  const place = { env: {}, platform: process.platform, home: dataDir, cwd: dataDir }
  const { config } = readConfig({ flags, place, readFile: () => '' })
  if (config === undefined) throw new Error('the settings of the benchmark do not fit')
  const instance = await openInstance({ config, settings: [] }, { now: Date.now, writeLog: () => undefined })
  const unknown = 'http://localhost:5100/api/v2/pushes/0123456789abcdefghjkmnpqrs'
  const ask = async () =>
    (await instance.handle(new Request(unknown, { headers: { host: 'localhost' } }), '127.0.0.1')).text()
  const microseconds = await time(ask)
  await instance.close()
  return [{ name: 'parse, limit, route, answer and log a request', microseconds }]
}

/** Microseconds of one, of many. */
async function time(work: () => unknown): Promise<number> {
  const round = async () => {
    for (let done = 0; done < ROUNDS; done += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, work))
  }
  await round()
  const started = performance.now()
  await round()
  return ((performance.now() - started) * 1000) / (Math.ceil(ROUNDS / AT_ONCE) * AT_ONCE)
}
