// How long one hostile request delays all others: sends the largest bodies and headers, while another client
// requests a small file again and again.

import { maxBodyBytes } from '../../src/http/intake/body.ts'
import {
  ALPHABETS,
  type Body,
  HOSTILE_BODIES,
  hostileFields,
  hostileText,
  type MakeBody,
} from '../../test/support/hostile.ts'
import type { Subject } from './folder.ts'
import type { Bench } from './measure.ts'
import { targets } from './targets.ts'

const TRIES = 3
const BODY_BYTES = maxBodyBytes({ maxPayloadBytes: 1024 * 1024 }) - 1000
/** The server refuses more than 16 KiB of method, path and headers together. */
const HEAD_BYTES = 15_000
const FIELDS = ['payload', 'passphrase', 'name', 'note', 'link', 'qr', 'wifi_network', 'expire_after_days']
const HEADERS: Readonly<Record<string, string>> = {
  accept: '',
  'accept-language': '',
  authorization: 'Basic ',
  cookie: 'oncebox_session=',
  'idempotency-key': '',
  origin: 'https://',
  range: 'bytes=',
  referer: 'http://',
  'user-agent': '',
  'x-forwarded-for': '',
  'x-push-passphrase': '',
}

type Sent = { path: string; init: RequestInit }

/** The name of a hostile request, such as `header cookie: emoji`. */
type Named = [name: string, make: () => Sent]
type Wait = { measured: number; remark: string }

/**
 * The longest wait over all kinds, where the wait of a kind is the shortest of several tries. The others are
 * only printed.
 */
export async function measureHostile(bench: Bench, subjects: readonly Subject[]): Promise<void> {
  console.error('… hostile requests')
  const cells = []
  for (const { server } of subjects) {
    const waits = new Map<string, Wait>()
    for (const [remark, make] of hostileRequests()) {
      const [kind = ''] = remark.split(': ')
      const measured = await shortestOfTries(`http://127.0.0.1:${server.port}`, make())
      if (measured > (waits.get(kind)?.measured ?? 0)) waits.set(kind, { measured, remark })
    }
    const longestFirst = [...waits.values()].toSorted((a, b) => b.measured - a.measured)
    for (const { measured, remark } of longestFirst)
      console.error(`  ${measured.toFixed(1)} ms beside ${remark}`)
    cells.push(longestFirst[0] ?? { measured: undefined })
  }
  bench.addRow({ what: 'longest wait beside a hostile request', unit: 'ms', wanted: targets.hostile, cells })
}

async function shortestOfTries(base: string, sent: Sent): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < TRIES; tries += 1) shortest = Math.min(shortest, await longestWait(base, sent))
  return shortest
}

function hostileRequests(): Named[] {
  const found: Named[] = Object.entries(HOSTILE_BODIES).map(([name, make]) => [name, () => posted(make)])
  for (const [alphabet, unit] of Object.entries(ALPHABETS)) {
    const bodies = hostileFields({ names: FIELDS, unit, start: 'http://', others: { kind: 'url' } })
    for (const [kind, make] of Object.entries(bodies))
      found.push([`fields of ${kind}: ${alphabet}`, () => posted(make)])
    const text = Buffer.from(hostileText(unit.toWellFormed(), HEAD_BYTES)).toString('latin1')
    if (/[\r\n]/.test(text)) continue
    for (const [name, start] of Object.entries(HEADERS))
      found.push([
        `header ${name}: ${alphabet}`,
        () => ({ path: '/', init: { headers: { [name]: start + text } } }),
      ])
    found.push([
      `query: ${alphabet}`,
      () => ({ path: `/?name=${encodeURI(text).slice(0, HEAD_BYTES)}`, init: {} }),
    ])
  }
  return found
}

function posted(make: MakeBody): Sent {
  const { type, body }: Body = make(BODY_BYTES)
  return { path: '/api/v2/pushes', init: { method: 'POST', headers: { 'content-type': type }, body } }
}

/**
 * Resolves to the longest latency of the small requests while the hostile one was served.
 */
async function longestWait(base: string, { path, init }: Sent): Promise<number> {
  let isAnswered = false
  let longest = 0
  const others = (async () => {
    while (!isAnswered) {
      const asked = performance.now()
      await (await fetch(`${base}/robots.txt`)).text()
      longest = Math.max(longest, performance.now() - asked)
    }
  })()
  await (await fetch(base + path, init)).arrayBuffer()
  isAnswered = true
  await others
  return longest
}
