// Test support for pages: an instance with two accounts, and a browser without scripts.

import { afterAll, beforeAll, expect } from 'bun:test'
import { type Api, startApi } from '../../support/api.ts'
import type { Init } from '../../support/instance.ts'
import { elementsIn, textsIn, valueIn } from '../../support/page-facts.ts'

export const PASSWORD = 'correct horse battery'
export const FORM = 'application/x-www-form-urlencoded'
export const SAME = { origin: 'http://localhost' }

/** Starts an instance for the tests of a file. Ann is an administrator, Bob is not. */
export function usePages() {
  let api: Api
  beforeAll(async () => {
    api = await startApi()
    await api.addAccount('ann@example.org', { isAdmin: true })
    await api.addAccount('bob@example.org')
  })
  afterAll(() => api.close())

  async function fetchPage(path: string, init: Init = {}) {
    const response = await api.fetch(path, init)
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  function send(path: string, fields: Record<string, string>, init: Init = {}) {
    return fetchPage(path, {
      method: 'POST',
      body: new URLSearchParams(fields).toString(),
      ...init,
      headers: { 'content-type': FORM, ...SAME, ...init.headers },
    })
  }

  /** A signed-in browser: its cookie, and the token of its forms. */
  async function signIn(email: string, password = PASSWORD, init: Init = {}) {
    const answer = await send('/sign-in', { email, password }, init)
    expect(answer.status).toBe(303)
    const cookie = cookieOf(answer.headers)
    const { text } = await fetchPage('/account', { headers: { cookie } })
    return { cookie, form: valueIn(text, 'form') }
  }

  return {
    get api() {
      return api
    },
    fetchPage,
    send,
    signIn,
  }
}

export function cookieOf(headers: Headers): string {
  return headers.get('set-cookie')?.split(';', 1)[0] ?? ''
}

/** Returns the nonce of the first form whose action ends in `end`. */
export function nonceOf(html: string, end = ''): string {
  const [nonce] = elementsIn(html, `form${end === '' ? '' : `[action$="${end}"]`} [name="nonce"]`)
  return nonce?.attributes.value ?? ''
}

/** Returns the path of the one-time link that the page shows; 'none' if it shows none. */
export function welcomePathIn(html: string): string {
  return textsIn(html, '#link')[0]?.replace('http://localhost', '') ?? 'none'
}

export function pathOf(link: string): string {
  return new URL(link).pathname
}
