// How long one hostile request keeps all others waiting: bodies and headers at their largest, beside a client that asks for
// a small file again and again.

import { maxBodyBytes } from '../../src/http/intake/body.ts'
import {
  ALPHABETS,
  type Body,
  HOSTILE_BODIES,
  hostileFields,
  hostileText,
  type MakeBody,
} from '../../test/support/hostile.ts'
import type { Served, Stage } from './stage.ts'
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

/** Of every kind, the alphabet with which others waited longest. */
export async function measureBlocks({ report }: Stage, { server }: Pick<Served, 'server'>): Promise<void> {
  console.error('… hostile requests')
  const base = `http://127.0.0.1:${server.port}`
  for (const [kind, requests] of kinds()) {
    let longest = { alphabet: '', milliseconds: 0 }
    for (const [alphabet, make] of requests) {
      const sent = make()
      let milliseconds = Number.POSITIVE_INFINITY
      for (let tries = 0; tries < TRIES; tries += 1)
        milliseconds = Math.min(milliseconds, await longestWait(base, sent))
      if (milliseconds > longest.milliseconds) longest = { alphabet, milliseconds }
    }
    const remark = longest.alphabet === '' ? {} : { remark: longest.alphabet }
    const what = `wait beside ${kind}`
    report.judge({ what, measured: longest.milliseconds, unit: 'ms', limit: targets.block, ...remark })
  }
}

type Kinds = Map<string, [alphabet: string, make: () => Sent][]>

function kinds(): Kinds {
  const found: Kinds = new Map()
  const add = (kind: string, alphabet: string, make: () => Sent) =>
    found.set(kind, [...(found.get(kind) ?? []), [alphabet, make]])
  for (const [name, make] of Object.entries(HOSTILE_BODIES)) {
    const [kind = name, alphabet = ''] = name.split(': ')
    add(kind, alphabet, () => posted(make))
  }
  for (const [alphabet, unit] of Object.entries(ALPHABETS)) {
    const bodies = hostileFields({ names: FIELDS, unit, start: 'http://', others: { kind: 'url' } })
    for (const [kind, make] of Object.entries(bodies)) add(`fields of ${kind}`, alphabet, () => posted(make))
    const text = Buffer.from(hostileText(unit.toWellFormed(), HEAD_BYTES)).toString('latin1')
    if (/[\r\n]/.test(text)) continue
    for (const [name, start] of Object.entries(HEADERS))
      add(`header ${name}`, alphabet, () => ({ path: '/', init: { headers: { [name]: start + text } } }))
    add('query', alphabet, () => ({ path: `/?name=${encodeURI(text).slice(0, HEAD_BYTES)}`, init: {} }))
  }
  return found
}

function posted(make: MakeBody): Sent {
  const { type, body }: Body = make(BODY_BYTES)
  return { path: '/api/v2/pushes', init: { method: 'POST', headers: { 'content-type': type }, body } }
}

/** The longest that one of the small requests took, from before the hostile one was sent until it was answered. */
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
