// Sends one HTTP request to a server that may be hostile: verifies TLS, follows no redirect, decompresses
// nothing, and times out.

import { ClientFailure, UnknownAuthority, unreachable } from './failure.ts'

export type DialOptions = {
  userAgent: string
  /** Additional trusted certificates in PEM. */
  caCerts: string | null
  /**
   * The only trusted authority, in PEM, which a person compared at login. Null trusts the system's
   * authorities.
   */
  authority: string | null
}

type DialRequest = {
  method?: string
  headers?: Record<string, string>
  body?: BodyInit
  signal: AbortSignal
  /** Connects to this address instead of resolving the host. */
  address?: string | undefined
}

export type Dial = (url: string, request: DialRequest) => Promise<Response>

/** Creates `dial`, which throws ClientFailure if there is no response, or a compressed one. */
export function createDial({ userAgent, caCerts, authority }: DialOptions): Dial {
  return async (url, { headers, address, ...request }) => {
    const { origin, host, hostname } = new URL(url)
    const isNamed = address === undefined
    const init = {
      ...request,
      headers: {
        ...headers,
        ...(isNamed ? {} : { host }),
        ...{ 'user-agent': userAgent, 'accept-encoding': 'identity' },
      },
      // Follow no redirect, which would receive the token.
      redirect: 'manual' as const,
      tls: {
        ...(await trustedBy({ caCerts, authority })),
        // Set this explicitly, because the environment could turn it off.
        rejectUnauthorized: true,
        ...(isNamed ? {} : { serverName: hostname }),
      },
      // A few kilobytes of gzip can expand to gigabytes.
      decompress: false,
    }
    const response = await fetch(isNamed ? url : addressed(url, address), init).catch((cause) => {
      const failure = unreachable(origin, cause)
      throw authority !== null && failure instanceof UnknownAuthority ? changedAuthority(origin) : failure
    })
    const encoding = response.headers.get('content-encoding') ?? 'identity'
    if (encoding.toLowerCase() === 'identity') return response
    await response.body?.cancel()
    throw new ClientFailure('failed', `${origin} answered with compressed content, which was not requested.`)
  }
}

function addressed(url: string, address: string): string {
  const target = new URL(url)
  target.hostname = address.includes(':') ? `[${address}]` : address
  return target.href
}

async function trustedBy({ caCerts, authority }: Pick<DialOptions, 'caCerts' | 'authority'>) {
  if (authority !== null) return { ca: [authority] }
  if (caCerts === null) return {}
  // Loaded only when needed: it takes megabytes, in servers too.
  const { rootCertificates } = await import('node:tls')
  return { ca: [...rootCertificates, caCerts] }
}

function changedAuthority(origin: string): ClientFailure {
  return new ClientFailure(
    'failed',
    `The certificate of ${origin} is not from the authority that you compared at login; nothing was sent. The connection ` +
      'may be intercepted, or the server was renamed or set up anew. Ask its administrator for the fingerprint, then ' +
      `run "oncebox login ${origin}" again.`,
  )
}
