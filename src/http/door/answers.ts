// Builds answers: JSON, text, pages and redirects, none of them cached.

const COMMON = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

export type AnswerHeaders = Record<string, string>

const JSON_HEADERS: AnswerHeaders = { 'content-type': 'application/json; charset=utf-8', ...COMMON }
/** Bun copies these twice as fast as it reads an object. */
const PARSED_JSON_HEADERS = new Headers(JSON_HEADERS)

export function answerJson(status: number, body: unknown, headers?: AnswerHeaders): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: headers === undefined ? PARSED_JSON_HEADERS : { ...JSON_HEADERS, ...headers },
  })
}

export function answerText(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'text/plain; charset=utf-8', ...COMMON } })
}

/** A text to save, exactly as it is. `filename` is plain ASCII. */
export function answerTextFile(filename: string, text: string): Response {
  return new Response(text, {
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': `attachment; filename="${filename}"`,
      'content-security-policy': "sandbox; default-src 'none'",
      'referrer-policy': 'no-referrer',
      ...COMMON,
    },
  })
}

/** Redirects to a page of this server; the browser asks for it with GET, whatever the method of the request. */
export function answerSeeOther(location: string, headers: AnswerHeaders = {}): Response {
  return new Response(null, {
    status: 303,
    headers: { location, 'referrer-policy': 'no-referrer', ...COMMON, ...headers },
  })
}

/** Redirects permanently; `location` is on this server. */
export function answerMoved(location: string): Response {
  return new Response(null, {
    status: 301,
    headers: { location, 'referrer-policy': 'no-referrer', ...COMMON },
  })
}

/** `policy` extends the Content-Security-Policy; by default a page may load nothing and send no form. */
export function answerPage(
  status: number,
  html: string,
  { policy = "form-action 'none'", ...headers }: AnswerHeaders = {},
): Response {
  return new Response(html, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; base-uri 'none'; frame-ancestors 'none'; ${policy}`,
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex, nofollow',
      ...COMMON,
      ...headers,
    },
  })
}
