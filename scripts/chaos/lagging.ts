// The address names a primary and an asynchronous standby. What that lacks when it takes over was read already, or is lost: then
// nothing is given until `oncebox after-restore`. Where it lacks nothing, everything goes on.

import type { Node } from '../../test/support/nodes.ts'
import type { Client } from './client.ts'
import { createLoad } from './load.ts'
import { bringBack, changeRoles, firstPair, LOSSES, losePrimary, type Pair, removePair } from './pair.ts'
import { moment, recover, type Scenario, type Trial } from './scenario.ts'

/** Secrets of one view; every second one is read before the primary is lost. */
const SECRETS = 20
/** How long nodes may take to notice that something is missing. */
const NOTICE_MS = 20_000
const WARNING = /standbys of PostgreSQL are asynchronous|its standbys may lack the last changes/
const RESTORED = 'after-restore'

type Secret = { urlToken: string; payload: string; given: number }
type Round = { trial: Trial; pair: Pair; client: Client; secrets: Secret[]; faults: string[] }

export const lagging: Scenario = {
  name: 'lagging',
  what: 'the standby in the address asynchronous: promoted with everything, or lacking the last changes',
  rounds: 5,
  office: { standby: 'asynchronous' },
  run: async (trial) => {
    const { office, rounds, onStep } = trial
    const load = createLoad(office, trial.draw)
    const { client, faults } = load
    let pair = firstPair(office, { isSynchronous: false })
    for (let number = 0; number < rounds; number += 1) {
      const loss = [null, ...LOSSES][number % (LOSSES.length + 1)] ?? null
      onStep(`${number} of ${rounds} failovers: ${loss ?? 'an orderly stop'}`)
      await recover(trial, load)
      const round: Round = { trial, pair, client, secrets: [], faults }
      await expectWarnings(round)
      await giveSecrets(round)
      if (loss === null) {
        await pair.primary.cluster.stop('fast')
        await pair.standby.cluster.promote()
        await recover(trial, load)
        await giveRest(round)
      } else {
        pair.link.set('stall')
        await giveSecrets(round)
        await losePrimary(pair, loss)
        await Bun.sleep(moment(trial.draw, 300))
        await pair.standby.cluster.promote()
        await expectSilence(round)
        await bringBack(pair, loss)
        await office.command(['after-restore', '--yes'])
        await recover(trial, load)
      }
      await giveNothing(round)
      pair = await changeRoles(pair, office)
    }
    await removePair(pair)
    return { tried: `${rounds} failovers, ${client.countRequests()} requests`, faults }
  },
}

/** Both say beforehand what a failover may cost. */
async function expectWarnings({ trial: { office }, faults }: Round): Promise<void> {
  for (const { name, server } of office.nodes) {
    const said = await (await server?.ask('/readyz'))?.text()
    if (!WARNING.test(said ?? '')) faults.push(`/readyz of ${name} warns of nothing: ${said}`)
  }
  const { stdout } = await office.command(['doctor'])
  if (!WARNING.test(stdout)) faults.push(`the doctor warns of nothing: ${stdout}`)
}

async function giveSecrets({ client, secrets, trial: { draw } }: Round): Promise<void> {
  for (let n = 0; n < SECRETS; n += 1) {
    const payload = `${draw(1e9)}`
    const { body } = await client.create({ payload, expire_after_views: 1 })
    const secret = { urlToken: body.url_token ?? '', payload, given: 0 }
    secrets.push(secret)
    if (n % 2 === 0 && (await client.ask(pathOf(secret))).body.payload === payload) secret.given += 1
  }
}

const pathOf = ({ urlToken }: Secret) => `/api/v2/pushes/${urlToken}`

/** Every secret was given once in the end. */
async function giveRest({ client, secrets, faults }: Round): Promise<void> {
  for (const secret of secrets) {
    if ((await client.ask(pathOf(secret))).body.payload === secret.payload) secret.given += 1
    if (secret.given !== 1) faults.push(`a secret was given ${secret.given} times after an orderly failover`)
  }
}

/** Nodes notice that something is missing, and none of them gives anything from then on; not after a restart either. */
async function expectSilence({ trial: { office }, client, secrets, faults }: Round): Promise<void> {
  const until = performance.now() + NOTICE_MS
  for (const node of office.nodes) {
    while (!(await isRefusing(node)) && performance.now() < until) await Bun.sleep(100)
    if (!(await isRefusing(node))) faults.push(`${node.name} serves a database that lacks changes`)
  }
  for (const secret of secrets)
    for (const node of office.nodes) {
      const answer = await client.askOnce(node, pathOf(secret), {})
      if (answer?.body.payload === secret.payload) secret.given += 1
      if (secret.given > 1) faults.push(`${node.name} gave a secret a second time`)
    }
  const [first] = office.nodes
  await first?.end('SIGKILL')
  const refusal = await first?.start().then(
    () => 'it started',
    (cause) => String(cause),
  )
  if (!refusal?.includes(RESTORED)) faults.push(`a start on a database that lacks changes: ${refusal}`)
}

async function isRefusing({ server }: Node): Promise<boolean> {
  const answer = await server?.ask('/readyz').catch(() => null)
  return answer?.status === 503 && (await answer.text()).includes(RESTORED)
}

/** Of all that was given, or was lost, nothing is given once more. */
async function giveNothing({ trial: { office }, client, secrets, faults }: Round): Promise<void> {
  for (const node of office.nodes) if (node.server === null) await node.start()
  for (const secret of secrets)
    if (typeof (await client.ask(pathOf(secret))).body.payload === 'string')
      faults.push('a secret was given once more after all')
}
