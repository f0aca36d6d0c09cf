// The API of a whole Oncebox as clients see it. Every answer is checked against the reference.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import type { AuditKind } from '../../src/domain/audit.ts'
import { type Init, startInstance, type TestInstance } from './instance.ts'
import { type CheckAnswer, createCheckAnswer, type Reference } from './reference-check.ts'

export type Wire = Record<string, unknown>

export type Answer<Body = Wire> = { status: number; headers: Headers; text: string; body: Body }

/** A push in any answer. Optional members depend on the answer. */
export type PushBody = {
  url_token: string
  html_url: string
  json_url: string
  kind: string
  created_at: string
  updated_at: string
  expire_after_days: number
  expire_after_views: number
  days_remaining: number
  views_remaining: number
  expires_at: string
  expired: boolean
  expired_on: string | null
  deleted: boolean
  deletable_by_viewer: boolean | null
  retrieval_step: boolean
  passphrase: null
  passphrase_required: boolean
  name?: string
  note?: string
  payload?: string | null
  files?: unknown[]
}

export type EntryBody = {
  ip: string
  user_agent: string
  referrer: string
  kind: AuditKind
  created_at: string
  updated_at: string
}

export type StoredEntry = { pushId: number; id: number; kind: AuditKind }

export type Api = Awaited<ReturnType<typeof startApi>>

export const PUSHES = '/api/v2/pushes'

/** Checks by settings: instances with the same settings have the same reference. */
const checks = new Map<string, CheckAnswer>()

async function getCheckAnswer({ fetch }: TestInstance, flags: Record<string, string> = {}) {
  const name = JSON.stringify(flags)
  const base = flags['base-url']
  const basePath = base === undefined ? '' : new URL(base).pathname.replace(/\/$/, '')
  const known = checks.get(name)
  if (known !== undefined) return known
  // Sent from an address without limits.
  const reference = await fetch('/api/v2/openapi.json', { from: '127.0.0.1' })
  const check = createCheckAnswer((await reference.json()) as Reference, { basePath })
  checks.set(name, check)
  return check
}

export async function startApi(options: Parameters<typeof startInstance>[0] = {}) {
  const instance = await startInstance(options)
  const checkAnswer = await getCheckAnswer(instance, options.flags)

  /** Calls the API. The type of the body is the caller's claim; the reference checks it. */
  async function call<Body = Wire>(path: string, init: Init = {}): Promise<Answer<Body>> {
    const response = await instance.fetch(path, init)
    const text = await response.text()
    const method = init.method ?? (init.json === undefined && init.body === undefined ? 'GET' : 'POST')
    checkAnswer({ method, path, response, text })
    const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== ''
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} }
  }

  const post = (push: Wire, init: Init = {}) => call<PushBody>(PUSHES, { ...init, json: { push } })

  /** Creates a push. Throws unless it is created. */
  async function create(push: Wire = {}, init: Init = {}): Promise<PushBody> {
    const { status, body, text } = await post({ payload: 'correct horse', ...push }, init)
    if (status !== 201) throw new Error(`the push was not created: ${status} ${text}`)
    return body
  }

  /**
   * Returns every audit entry of the instance, including those of anonymous pushes, whose log the API never
   * shows.
   */
  function entries(): StoredEntry[] {
    const database = new Database(join(instance.dataDir, 'oncebox.db'), { readonly: true })
    try {
      return database
        .query<StoredEntry, []>('SELECT push_id AS pushId, id, kind FROM audit_entries ORDER BY push_id, id')
        .all()
    } finally {
      database.close()
    }
  }

  return {
    ...instance,
    call,
    post,
    create,
    entries,
    retrieve: (urlToken: string, init: Init = {}) => call<PushBody>(`${PUSHES}/${urlToken}`, init),
    expire: (urlToken: string, init: Init = {}) =>
      call<PushBody>(`${PUSHES}/${urlToken}`, { ...init, method: 'DELETE' }),
    /** Resolves to one page of a push's audit log, for its owner. */
    audit: async (urlToken: string, token: string, page = 1) =>
      (await call<{ logs: EntryBody[] }>(`${PUSHES}/${urlToken}/audit?page=${page}`, { token })).body.logs,
    list: async (group: 'active' | 'expired', token: string, page = 1) =>
      (await call<PushBody[]>(`${PUSHES}/${group}?page=${page}`, { token })).body,
  }
}
