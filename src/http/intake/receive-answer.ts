// Receives an answer to a request: text, files, and the passphrase of the request. The API and the page of the sender share this.

import { Readable } from 'node:stream'
import { invalidFields } from '../../domain/errors.ts'
import { type PushLimits, payloadProblem } from '../../domain/new-push.ts'
import type { Problems } from '../../domain/problems.ts'
import type { Exchange } from '../door/exchange.ts'
import type { BodyLimits } from './body.ts'
import { createFields, isGiven } from './members.ts'
import type { FilePart } from './multipart.ts'
import { readPushFields } from './push-body.ts'
import { createPushTable, type PushFields } from './push-table.ts'
import { discardAfter, type FileSink } from './receive-push.ts'

/** Where an answer goes; requests/answering.ts says what each function throws. */
export type AnswerSink = {
  request: { acceptsText: boolean; acceptsFiles: boolean }
  upload: FileSink
  admit(passphrase: string | null): Promise<void>
  addFile(file: FilePart, passphrase: string | null): Promise<void>
  complete(payload: string): Promise<void>
}

/** The members of an answer; the reference shows them. */
export function createAnswerTable(limits: PushLimits) {
  const { payload, files, passphrase } = createPushTable(limits)
  return { payload, files, passphrase }
}

export type IncomingAnswer = {
  exchange: Exchange
  sink: AnswerSink
  /** Given apart from the body, in which it is looked for otherwise. */
  passphrase?: string | null
  /** Called after each part of a multipart body has been read, even if a later part fails. */
  onPart?: (name: string, value: unknown) => void
}

export function createReceiveAnswer({ limits, body }: { limits: PushLimits; body: BodyLimits }) {
  const table = createAnswerTable(limits)

  /** Resolves once the answer has arrived. Discards the stored files if anything throws. */
  async function receive({ exchange, sink, passphrase = null, onPart }: IncomingAnswer): Promise<void> {
    const { upload } = sink
    let given = passphrase
    const add = async (file: FilePart) => {
      requireAsked(sink, limits)
      await sink.addFile(file, given)
    }
    const note = (name: string, value: unknown) => {
      if (name === 'push[passphrase]' && typeof value === 'string' && value !== '') given ??= value
      onPart?.(name, value)
    }
    try {
      const options = { ...body, wrappers: ['push'], onFile: add, onPart: note }
      const wire = await readPushFields(exchange, options)
      const fields = createFields(table, wire)
      given = passphrase ?? fields.read('passphrase')
      if (fields.problems.passphrase === undefined) await sink.admit(given)
      const files = fields.read('files') ?? []
      const payload = fields.read('payload') ?? ''
      const received = { payload, files: upload.listFiles().length + files.length }
      const others = Object.keys(wire).filter((name) => !Object.hasOwn(table, name) && isGiven(wire[name]))
      const judged = createFields(table, wire)
      judge(judged, { ...received, ...sink.request, limits })
      const problems = { ...judged.problems, ...fields.problems, ...problemsOfOthers(others) }
      if (Object.keys(problems).length > 0) throw invalidFields(problems)
      for (const { data, ...file } of files) await add({ ...file, content: Readable.from([data]) })
      await sink.complete(payload)
    } catch (cause) {
      await discardAfter(upload, cause)
    }
  }

  return receive
}

/** Before a file is read. Throws `invalid`. */
function requireAsked({ request }: AnswerSink, limits: PushLimits): void {
  if (!request.acceptsFiles) throw invalidFields({ files: [{ code: 'not_asked_list' }] })
  if (!limits.kinds.has('file')) throw invalidFields({ files: [{ code: 'files_disabled' }] })
}

type Received = AnswerSink['request'] & { payload: string; files: number; limits: PushLimits }

/** Whether it is what the request asks for. */
function judge({ blame }: Pick<PushFields, 'blame'>, { payload, files, ...asked }: Received): void {
  const isBlank = payload.trim() === ''
  const problem = payloadProblem(files === 0 ? 'text' : 'file', payload, asked.limits)
  if (isBlank && files === 0) blame(asked.acceptsText ? 'payload' : 'files', { code: 'blank' })
  else if (problem !== null) blame('payload', problem)
  if (!isBlank && !asked.acceptsText) blame('payload', { code: 'not_asked' })
  if (files > 0 && !asked.acceptsFiles) blame('files', { code: 'not_asked_list' })
}

/** The most members that a refusal names. */
const NAMED = 20

/** An answer has no other members, such as limits: those are the owner's. */
function problemsOfOthers(others: readonly string[]): Problems {
  const names = others.slice(0, NAMED).map((name) => (/^(?!error$)[a-z]\w{0,40}$/.test(name) ? name : 'push'))
  return Object.fromEntries(names.map((name) => [name, [{ code: 'no_member' }]]))
}
