// Builds answers. The only file that sets security and cache headers; an answer is not cached unless its
// function says so.

export type AnswerHeaders = Record<string, string>

const COMMON = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  // A site that opens this one in a window cannot control it, and other sites cannot embed its responses.
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

const JSON_HEADERS: AnswerHeaders = { 'content-type': 'application/json; charset=utf-8', ...COMMON }
/** Parsed once, because Bun copies a Headers object twice as fast as it parses a plain one. */
const PARSED_JSON_HEADERS = new Headers(JSON_HEADERS)

export const TEXT = 'text/plain; charset=utf-8'

export function answerJson(status: number, body: unknown, headers?: AnswerHeaders): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: headers === undefined ? PARSED_JSON_HEADERS : { ...JSON_HEADERS, ...headers },
  })
}

export function answerText(status: number, text: string, headers: AnswerHeaders = {}): Response {
  return new Response(text, { status, headers: { 'content-type': TEXT, ...COMMON, ...headers } })
}

/** Answers a preflight, without a body. */
export function answerNothing(headers: AnswerHeaders): Response {
  return new Response(null, { status: 204, headers: { ...COMMON, ...headers } })
}

type Attachment = { type: string; filename: string; status?: number; headers?: AnswerHeaders }

/**
 * Answers with an unchanged attachment. Sandboxed, so that it has no origin if a browser renders it anyway.
 */
export function answerAttachment(
  body: BodyInit | null,
  { type, filename, status = 200, headers = {} }: Attachment,
): Response {
  return new Response(body, {
    status,
    headers: {
      'content-type': type,
      'content-disposition': dispositionOf(filename),
      'content-security-policy': "sandbox; default-src 'none'",
      'referrer-policy': 'no-referrer',
      ...COMMON,
      ...headers,
    },
  })
}

/**
 * Returns an ASCII file name, followed by the real one in the notation of RFC 5987 (RFC 6266) if they differ.
 */
function dispositionOf(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const exact = encodeURIComponent(filename).replace(
    /['()*!]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`
}

/** How long browsers may cache an asset. `revalidate`: ask the server each time. */
const KEPT = {
  forever: 'public, max-age=31536000, immutable',
  day: 'public, max-age=86400',
  revalidate: 'no-cache',
  never: 'no-store',
}

export type CacheRule = keyof typeof KEPT

type AssetAnswer = {
  type: string
  kept: CacheRule
  /** The Content-Security-Policy of an asset that may be opened as a page. */
  policy?: string | undefined
  headers?: AnswerHeaders
}

/** Answers with a file that pages load, such as a style sheet. Must hold no secret. */
export function answerAsset(body: BodyInit, { type, kept, policy, headers = {} }: AssetAnswer): Response {
  return new Response(body, {
    headers: {
      'content-type': type,
      ...COMMON,
      'cache-control': KEPT[kept],
      ...(policy === undefined ? {} : { 'content-security-policy': policy }),
      ...headers,
    },
  })
}

/**
 * Redirects to a page of this server; the browser asks for it with GET, whatever the method of the request.
 */
export function answerSeeOther(location: string, headers: AnswerHeaders = {}): Response {
  return redirect(303, location, headers)
}

/** Redirects permanently; `location` is on this server. */
export function answerMoved(location: string): Response {
  return redirect(301, location, {})
}

function redirect(status: number, location: string, headers: AnswerHeaders): Response {
  return new Response(null, {
    status,
    headers: { location, 'referrer-policy': 'no-referrer', ...COMMON, ...headers },
  })
}

const SELF = ['style-src', 'script-src', 'img-src', 'connect-src', 'form-action', 'manifest-src']
const PAGE_POLICY = [
  "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  ...SELF.map((source) => `${source} 'self'`),
].join('; ')

const PAGE_HEADERS: AnswerHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': PAGE_POLICY,
  // Not `no-referrer`, with which browsers send `Origin: null` with forms; those are then refused as
  // cross-site.
  'referrer-policy': 'same-origin',
  'x-robots-tag': 'noindex, nofollow',
  ...COMMON,
}
const PARSED_PAGE_HEADERS = new Headers(PAGE_HEADERS)

export function answerPage(status: number, html: string, headers?: AnswerHeaders): Response {
  return new Response(html, {
    status,
    headers: headers === undefined ? PARSED_PAGE_HEADERS : { ...PAGE_HEADERS, ...headers },
  })
}

/** Sets HSTS where --base-url says https. */
export type Secure = (headers: Headers) => void

/** A year, as preload lists require. Without subdomains, which may belong to others. */
const TRANSPORT_SECURITY = 'max-age=31536000'

/** `settings.baseUrl`: --base-url. */
export function createSecure(settings: { baseUrl: string | null; tls: 'off' | 'auto' | 'files' }): Secure {
  const { baseUrl, tls } = settings
  // With --tls auto, HSTS would lock out every browser when the authority changes.
  const isStrict = tls !== 'auto' && baseUrl !== null && isForTlsAlone(new URL(baseUrl))
  return (headers) => {
    if (isStrict) headers.set('strict-transport-security', TRANSPORT_SECURITY)
  }
}

/**
 * Whether HSTS would affect nothing but this server. On localhost it would: HSTS covers every port of a name,
 * and would break other programs of the machine.
 */
function isForTlsAlone({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' && hostname !== 'localhost' && !hostname.endsWith('.localhost')
}
