// SSRF protection: sends one request to a host that the operator allows, over its own socket. An HTTP library
// would follow redirects, use the proxy of the environment, keep connections, or resolve the name twice.

import { lookup } from 'node:dns/promises'
import { connect, isIP, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { connect as connectTls } from 'node:tls'
import type { DeliveryError, DeliveryFailure } from '../domain/outbox.ts'
import { SECOND } from '../domain/time.ts'
import { isListed, type WebPlace, webPlaceOf } from '../text/web-address.ts'
import { inTime } from './in-time.ts'
import { isAllowedAddress } from './judged-address.ts'

export type OutboundRequest = {
  method: 'POST' | 'PUT'
  url: string
  /** Names and values of printable ASCII. */
  headers: Readonly<Record<string, string>>
  body: string
}

export type OutboundOptions = {
  /** The hosts of --webhook-hosts. */
  listed: readonly string[]
  /** Returns all addresses of this machine, including those in the networks of its containers. */
  listAddresses?: () => readonly string[]
  /** Resolves a name. Called once per request. */
  lookUp?: (name: string) => Promise<readonly string[]>
  /** Deadline in milliseconds for the whole exchange. */
  within?: number
}

const WITHIN = 10 * SECOND
const MOST_ANSWER = 1024
/** How many addresses of a name are tried. A name may have more than there is time for. */
const MOST_ADDRESSES = 4

const listAll = () =>
  Object.values(networkInterfaces()).flatMap((own) => (own ?? []).map(({ address }) => address))
const lookUpAll = async (name: string) => (await lookup(name, { all: true })).map(({ address }) => address)

/** Resolves to null if the receiver answered with 2xx. Never rejects. */
export async function requestOutside(
  request: OutboundRequest,
  options: OutboundOptions,
  stopped?: AbortSignal,
): Promise<DeliveryFailure | null> {
  const { listed, within = WITHIN } = options
  const place = webPlaceOf(request.url)
  if (place === null || !isListed(place, listed)) return 'not_allowed'
  return inTime((ended) => send(request, { ...options, place, ended }), { within, stopped })
}

/** Connects as a request would, and sends none. Resolves to null on success. Never rejects. */
export function connectOutside(place: WebPlace, options: OutboundOptions): Promise<DeliveryError | null> {
  const { within = WITHIN } = options
  const tryOut = async (ended: AbortSignal) => {
    const reached = await reach({ ...options, place, ended })
    if (typeof reached === 'string') return reached
    reached.destroy()
    return null
  }
  return inTime(tryOut, { within })
}

type OutboundAttempt = OutboundOptions & { place: WebPlace; ended: AbortSignal }

async function send(request: OutboundRequest, sending: OutboundAttempt): Promise<DeliveryFailure | null> {
  const reached = await reach(sending)
  return typeof reached === 'string' ? reached : ask(reached, request)
}

/** Connects to the first address that accepts. Tries the next one only after a failure before TLS. */
async function reach(sending: OutboundAttempt): Promise<Socket | DeliveryError> {
  const { place, ended, lookUp = lookUpAll } = sending
  const name = place.hostname.replace(/^\[(.*)\]$/, '$1')
  const found = isIP(name) ? [name] : await lookUp(name).catch(() => [])
  if (found.length === 0) return 'name_not_found'
  const allowed = onlyAllowed(found, sending)
  if (allowed.length === 0) return 'address_not_allowed'
  for (const host of allowed.slice(0, MOST_ADDRESSES)) {
    const options = { host, port: place.port, family: isIP(host), autoSelectFamily: false }
    const socket = await opened(connect(options), 'connect', ended)
    if (socket === null) continue
    const ready = place.isTls ? await secured(socket, name, ended) : socket
    return ready ?? 'tls_failed'
  }
  return 'unreachable'
}

/** Returns no address if the system cannot list those of this machine, for example without AF_NETLINK. */
function onlyAllowed(found: readonly string[], { place, listed, listAddresses = listAll }: OutboundAttempt) {
  try {
    const own = listAddresses()
    return found.filter((address) => isAllowedAddress(address, place, { listed, own }))
  } catch {
    return []
  }
}

/** Starts TLS. The certificate must be valid for the name of the URL, and trusted by this machine. */
async function secured(socket: Socket, name: string, ended: AbortSignal): Promise<Socket | null> {
  const asked = isIP(name) ? { host: name } : { host: name, servername: name }
  const tls = connectTls({ socket, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'], ...asked })
  const ready = await opened(tls, 'secureConnect', ended)
  if (ready !== null && tls.authorized) return tls
  socket.destroy()
  return null
}

/** Resolves to null on failure. The deadline closes the socket, then or later. */
function opened<S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  ended: AbortSignal,
): Promise<S | null> {
  return new Promise((resolve) => {
    const fail = () => {
      socket.destroy()
      resolve(null)
    }
    // Keep this listener: without one, an error of the socket ends the process.
    socket.on('error', fail)
    socket.once('close', fail)
    socket.once(event, () => resolve(socket))
    if (ended.aborted) fail()
    else ended.addEventListener('abort', fail, { once: true })
  })
}

function ask(socket: Socket, request: OutboundRequest): Promise<DeliveryFailure | null> {
  return new Promise((resolve) => {
    let answer = ''
    const settle = (outcome: DeliveryFailure | null) => {
      resolve(outcome)
      socket.destroy()
    }
    socket.on('data', (bytes: Buffer) => {
      answer += bytes.toString('latin1')
      const status = statusIn(answer.slice(0, MOST_ANSWER))
      if (status !== null) settle(judge(status))
      else if (answer.length >= MOST_ANSWER) settle('bad_answer')
    })
    for (const event of ['end', 'close', 'error']) socket.once(event, () => settle('bad_answer'))
    socket.write(textOf(request))
  })
}

function textOf({ method, url, headers, body }: OutboundRequest): string {
  const { pathname, search, host } = new URL(url)
  const fields = {
    ...{ Host: host, 'User-Agent': 'Oncebox', Connection: 'close' },
    ...{ 'Content-Type': 'application/json', 'Content-Length': `${Buffer.byteLength(body)}` },
    ...headers,
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value.replace(/[^ -~]/g, '')}`)
  return [`${method} ${pathname}${search} HTTP/1.1`, ...lines, '', body].join('\r\n')
}

/**
 * Returns null until the status line is complete; NaN unless it is HTTP. Skips 1xx, which another answer
 * follows.
 */
function statusIn(answer: string): number | null {
  const end = answer.indexOf('\n')
  if (end === -1) return null
  const status = Number(/^HTTP\/1\.[01] (\d{3})[ \r\n]/.exec(answer)?.[1] ?? Number.NaN)
  if (!(status >= 100 && status < 200)) return status
  const next = /\r?\n\r?\n/.exec(answer)
  return next === null ? null : statusIn(answer.slice(next.index + next[0].length))
}

function judge(status: number): DeliveryFailure | null {
  const outcome = OUTCOMES[Math.floor(status / 100)]
  if (outcome === undefined) return 'bad_answer'
  return outcome && `${outcome} ${status}`
}

const OUTCOMES: Partial<Record<number, DeliveryError | null>> = {
  ...{ 2: null, 3: 'redirected', 4: 'refused', 5: 'receiver_failed' },
}
