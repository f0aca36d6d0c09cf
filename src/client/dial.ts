// One HTTP request to a server that may be hostile: verified, not redirected, never decompressed, and not for ever.

import { rootCertificates } from 'node:tls'
import { ClientFailure } from './failure.ts'
import { unreachable } from './unreachable.ts'

export type DialOptions = {
  userAgent: string
  /** Certificates in PEM that are trusted beside the usual ones. */
  caCerts: string | null
}

export type DialRequest = {
  method?: string
  headers?: Record<string, string>
  body?: BodyInit
  signal: AbortSignal
  /** Connects to this address instead of looking the host up. */
  address?: string | undefined
}

export type Dial = (url: string, request: DialRequest) => Promise<Response>

/** Throws ClientFailure when there is no answer, or one with an encoding that nobody asked for. */
export function createDial({ userAgent, caCerts }: DialOptions): Dial {
  const trusted = caCerts === null ? {} : { ca: [...rootCertificates, caCerts] }
  return async (url, { headers = {}, address, ...request }) => {
    const { origin, host, hostname } = new URL(url)
    const init = {
      ...request,
      headers: {
        ...headers,
        ...(address === undefined ? {} : { host }),
        'user-agent': userAgent,
        'accept-encoding': 'identity',
      },
      // A token must not follow to where a server points.
      redirect: 'manual' as const,
      // Stated here, because the environment could turn it off.
      tls: {
        ...trusted,
        rejectUnauthorized: true,
        ...(address === undefined ? {} : { serverName: hostname }),
      },
      // A few kilobytes of gzip can be gigabytes of content.
      decompress: false,
    }
    const response = await fetch(addressed(url, address), init).catch((cause) => {
      throw unreachable(origin, cause)
    })
    const encoding = response.headers.get('content-encoding') ?? 'identity'
    if (encoding.toLowerCase() === 'identity') return response
    await response.body?.cancel()
    throw new ClientFailure('failed', `${origin} answered with compressed content, which was not asked for.`)
  }
}

function addressed(url: string, address: string | undefined): string {
  if (address === undefined) return url
  const target = new URL(url)
  target.hostname = address.includes(':') ? `[${address}]` : address
  return target.href
}
