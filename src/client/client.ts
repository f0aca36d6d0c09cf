// The calls of the push API, version 2, as a client makes them.

import {
  parseEntries,
  parsePush,
  parsePushes,
  parseUrl,
  type RemoteEntry,
  type RemotePush,
} from './answers.ts'
import { ClientFailure } from './failure.ts'
import { type Answer, createAsk, messageIn, type RequestsOptions, refusalOf } from './requests.ts'
import { createUpload, type UploadFile } from './upload.ts'

/** Fields as the API names them; what is undefined is not sent. */
export type PushFields = Record<string, string | number | boolean | undefined>

export type NewRemotePush = {
  fields: PushFields
  files: UploadFile[]
  /** Bytes of the upload that are on their way, of so many. */
  onProgress: (sent: number, total: number) => void
}

/** `answer` is the body as it came. */
export type Retrieved =
  | { outcome: 'push'; push: RemotePush; answer: unknown }
  | { outcome: 'passphrase_wanted'; message: string }

export type ServerFacts = { applicationVersion: string; isOncebox: boolean }

export type Client = ReturnType<typeof createClient>

const PUSHES = '/api/v2/pushes'

export type ClientOptions = RequestsOptions & { newBoundary: () => string }

export function createClient(options: ClientOptions) {
  const ask = createAsk(options)

  /** Throws ClientFailure when this is no server of the API. */
  async function version(): Promise<ServerFacts> {
    const answer = await ask('/api/v2/version')
    const { body } = answer
    if (answer.status !== 200 || typeof body !== 'object' || body === null) {
      throw new ClientFailure('failed', `${options.server} does not speak version 2 of this API.`)
    }
    const applicationVersion = 'application_version' in body ? String(body.application_version) : 'unknown'
    return { applicationVersion, isOncebox: 'limits' in body }
  }

  async function create({ fields, files, onProgress }: NewRemotePush): Promise<Answer> {
    const given = Object.entries(fields).filter(([, value]) => value !== undefined)
    if (files.length === 0) {
      const body = JSON.stringify({ push: Object.fromEntries(given) })
      const headers = { 'content-type': 'application/json' }
      return expect(201, await ask(PUSHES, { method: 'POST', headers, body: () => body }))
    }
    const texts = given.map(([name, value]): [string, string] => [`push[${name}]`, String(value)])
    const upload = createUpload({ texts, files, boundary: options.newBoundary(), onProgress })
    const call = { method: 'POST', timeoutMs: Number.POSITIVE_INFINITY, ...upload } as const
    return expect(201, await ask(PUSHES, call))
  }

  /** A view, unless a passphrase is wanted. */
  async function retrieve(urlToken: string, passphrase: string | null): Promise<Retrieved> {
    const answer = await ask(...(await retrieveCall(urlToken, passphrase)))
    const message = messageIn(answer.body) ?? ''
    if (answer.status === 401 && /passphrase/i.test(message)) return { outcome: 'passphrase_wanted', message }
    return { outcome: 'push', push: parsePush(expect(200, answer).body), answer: answer.body }
  }

  /** Where the server takes it, a passphrase goes into a header: addresses end up in logs. */
  async function retrieveCall(urlToken: string, passphrase: string | null): Promise<Parameters<typeof ask>> {
    const path = `${PUSHES}/${urlToken}`
    if (passphrase === null) return [path]
    const encoded = encodeURIComponent(passphrase)
    const { isOncebox } = await version()
    return isOncebox
      ? [path, { headers: { 'x-push-passphrase': encoded } }]
      : [`${path}?passphrase=${encoded}`]
  }

  async function preview(urlToken: string): Promise<string> {
    return parseUrl(expect(200, await ask(`${PUSHES}/${urlToken}/preview`)).body)
  }

  async function expire(urlToken: string): Promise<Answer> {
    return expect(200, await ask(`${PUSHES}/${urlToken}`, { method: 'DELETE' }))
  }

  async function audit(urlToken: string, page: number): Promise<{ entries: RemoteEntry[]; answer: unknown }> {
    const { body } = expect(200, await ask(`${PUSHES}/${urlToken}/audit?page=${page}`))
    return { entries: parseEntries(body), answer: body }
  }

  async function list(
    group: 'active' | 'expired',
    page: number,
  ): Promise<{ pushes: RemotePush[]; leftOut: number; answer: unknown }> {
    const { body, headers } = expect(200, await ask(`${PUSHES}/${group}?page=${page}`))
    const leftOut = Number(headers.get('x-oncebox-left-out') ?? 0)
    return { pushes: parsePushes(body), leftOut, answer: body }
  }

  return { version, create, retrieve, preview, expire, audit, list }
}

function expect(status: number, answer: Answer): Answer {
  if (answer.status !== status) throw refusalOf(answer)
  return answer
}
