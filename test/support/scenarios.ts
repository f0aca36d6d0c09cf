// A scenario is data: the given push, the request, the answer, and exactly which audit entries it adds.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { AuditKind } from '../../src/domain/audit.ts'
import { type Answer, type Api, type PushBody, type StoredEntry, startApi, type Wire } from './api.ts'
import type { Init } from './instance.ts'

export type Who = 'visitor' | 'owner' | 'other'

export type Given = { api: Api; push: PushBody; tokens: Record<Who, string | undefined> }

export type Scenario = {
  /** A sentence. */
  name: string
  /** A push that exists before the request: its fields, in addition to a payload. */
  push?: Wire
  /** The owner of that push. */
  of?: Who
  /** Changes the push before the request. */
  before?: (given: Given) => unknown
  /** Method and path, in which {push} stands for the token of the push. */
  ask: string
  as?: Who
  init?: Init
  status: number
  /** The expected headers; null for one that must be absent. */
  headers?: Record<string, string | null>
  /** The whole body. */
  exactly?: unknown
  /** Members that the body must have, among others. */
  body?: Wire
  /** The names of all members of the body. */
  members?: readonly string[]
  /** The audit entries that are added in the whole instance; none by default. */
  audit?: AuditKind[]
}

export type ScenarioOptions = { flags?: Record<string, string> }

/** Registers the scenarios as tests on one instance, which has the accounts `owner` and `other`. */
export function runScenarios(scenarios: readonly Scenario[], options: ScenarioOptions = {}): void {
  let api: Api
  let tokens: Given['tokens']

  beforeAll(async () => {
    api = await startApi(options)
    tokens = {
      visitor: undefined,
      owner: await api.addAccount('owner@example.org'),
      other: await api.addAccount('other@example.org'),
    }
  })

  afterAll(() => api.close())

  for (const scenario of scenarios) {
    test(scenario.name, () => play(scenario, { api, tokens }))
  }
}

async function play(scenario: Scenario, { api, tokens }: Omit<Given, 'push'>): Promise<void> {
  const push = await api.create(scenario.push, as(tokens[scenario.of ?? 'owner']))
  await scenario.before?.({ api, push, tokens })
  const before = api.entries()
  const [method = '', path = ''] = scenario.ask.replaceAll('{push}', push.url_token).split(/ (.*)/s)
  const answer = await api.call(path, { ...scenario.init, ...as(tokens[scenario.as ?? 'visitor']), method })
  expectAnswer(answer, scenario)
  expect(newEntries(before, api.entries()).map(({ kind }) => kind)).toEqual(scenario.audit ?? [])
}

function expectAnswer(answer: Answer, { status, headers = {}, exactly, body, members }: Scenario): void {
  expect({ status: answer.status, text: answer.status === status ? '' : answer.text }).toEqual({
    status,
    text: '',
  })
  for (const [name, value] of Object.entries(headers)) expect(answer.headers.get(name)).toBe(value)
  if (exactly !== undefined) expect<unknown>(answer.body).toEqual(exactly)
  if (body !== undefined) expect(answer.body).toMatchObject(body)
  if (members !== undefined) expect(Object.keys(answer.body).sort()).toEqual([...members].sort())
}

function newEntries(before: StoredEntry[], after: StoredEntry[]): StoredEntry[] {
  const known = new Set(before.map(({ id }) => id))
  return after.filter(({ id }) => !known.has(id))
}

function as(token: string | undefined): Init {
  return token === undefined ? {} : { token }
}
