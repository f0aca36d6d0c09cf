// Answers as they leave: JSON and pages, never cached, with their headers set where they are made.

const COMMON = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

export type AnswerHeaders = Record<string, string>

export function answerJson(status: number, body: unknown, headers: AnswerHeaders = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...COMMON, ...headers },
  })
}

export function answerText(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'text/plain; charset=utf-8', ...COMMON } })
}

/** To a page of this server, asked for with GET, whatever the request was. */
export function answerSeeOther(location: string, headers: AnswerHeaders = {}): Response {
  return new Response(null, {
    status: 303,
    headers: { location, 'referrer-policy': 'no-referrer', ...COMMON, ...headers },
  })
}

/** For good; `location` is on this server. */
export function answerMoved(location: string): Response {
  return new Response(null, {
    status: 301,
    headers: { location, 'referrer-policy': 'no-referrer', ...COMMON },
  })
}

/** `policy` is the page's Content-Security-Policy; without one nothing but the markup is allowed. */
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
