// Browsers at the pages of a whole Oncebox: their cookies, and the tokens of their forms.

import { expect } from 'bun:test'
import type { Init, TestInstance } from './instance.ts'

const FORM = 'application/x-www-form-urlencoded'

export type PageAnswer = { status: number; headers: Headers; text: string }
export type People = ReturnType<typeof createPeople>
export type Person = Awaited<ReturnType<People['signIn']>>

export function createPeople(instance: Pick<TestInstance, 'fetch'>) {
  const password = 'correct horse battery'

  async function get(path: string, init: Init = {}): Promise<PageAnswer> {
    const response = await instance.fetch(path, init)
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  /** Sent from a page of the server itself. */
  function post(path: string, fields: Record<string, string>, init: Init = {}): Promise<PageAnswer> {
    const headers = { 'content-type': FORM, origin: 'http://localhost', ...init.headers }
    return get(path, { method: 'POST', body: new URLSearchParams(fields).toString(), ...init, headers })
  }

  /** Returns a browser that holds the cookie of this answer. */
  async function enter(answer: PageAnswer, { from = '192.0.2.1' }: Pick<Init, 'from'> = {}) {
    const cookie = answer.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
    const withCookie = (init: Init): Init => ({ from, ...init, headers: { cookie, ...init.headers } })
    const { text } = await get('/account', withCookie({}))
    const form = /name="form" value="([\w-]+)"/.exec(text)?.[1] ?? ''
    return {
      cookie,
      form,
      get: (path: string, init: Init = {}) => get(path, withCookie(init)),
      post: (path: string, fields: Record<string, string>, init: Init = {}) =>
        post(path, { form, ...fields }, withCookie(init)),
    }
  }

  async function signIn(email: string, options: { password?: string; from?: string } = {}) {
    const { from = '192.0.2.1' } = options
    const answer = await post('/sign-in', { email, password: options.password ?? password }, { from })
    expect(answer.status).toBe(303)
    return enter(answer, { from })
  }

  return { password, get, post, enter, signIn }
}
