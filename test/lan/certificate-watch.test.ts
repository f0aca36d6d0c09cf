// Checks for a new certificate: how often, one at a time, and what happens if the certificate cannot be
// served.

import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import type { Certificate } from '../../src/lan/certificate.ts'
import { createCertificateWatch } from '../../src/lan/certificate-watch.ts'
import { pass } from '../support/timers.ts'

let wanted = 'first'
let current = 'first'
let served: string[] = []
let lines: string[] = []

const FACTS = {
  ...{ fingerprint: '', subject: '', validFrom: 0, validUntil: 0, names: [], addresses: [] },
  der: Buffer.alloc(0),
}

const certificate: Certificate = {
  current: () => ({ certificate: current, key: '' }),
  facts: () => FACTS,
  refresh: async () => {
    const isNew = wanted !== current
    current = wanted
    return isNew
  },
  authority: null,
}

beforeEach(() => {
  wanted = 'first'
  current = 'first'
  served = []
  lines = []
})

function watch(serve = async (name: string) => void served.push(name)) {
  const made = createCertificateWatch({
    certificate,
    log: { info: (_: object, m: string) => lines.push(m) } as never,
  })
  made.follow((pair) => serve(pair.certificate))
  return made
}

afterEach(() => jest.useRealTimers())

test('a new certificate, such as for another address of the machine, is served within five seconds', async () => {
  jest.useFakeTimers()
  const { job } = watch()
  const report = { did: () => undefined, failed: () => undefined, finished: () => undefined }
  job.start(report)
  wanted = 'second'
  await pass(5000)
  wanted = 'third'
  await pass(5000)
  await job.stop()
  expect(served).toEqual(['second', 'third'])
})

test('a reload reports whether the certificate has changed', async () => {
  const { reloadable } = watch()
  expect(await reloadable.reload()).toBe(false)
  wanted = 'second'
  expect(await reloadable.reload()).toBe(true)
  expect(await reloadable.reload()).toBe(false)
  expect(lines).toEqual(['serving a new certificate'])
})

test('a certificate that could not be served is retried, and not reported as served', async () => {
  let isBroken = true
  const { reloadable } = watch(async (name) => {
    if (isBroken) throw new Error('no more files can be opened')
    served.push(name)
  })
  wanted = 'second'
  await expect(reloadable.reload()).rejects.toThrow('no more files')
  expect(lines).toEqual([])
  isBroken = false
  expect(await reloadable.reload()).toBe(true)
  expect(served).toEqual(['second'])
})

test('two concurrent checks serve a certificate once', async () => {
  const { reloadable } = watch()
  wanted = 'second'
  expect(await Promise.all([reloadable.reload(), reloadable.reload()])).toEqual([true, true])
  expect(served).toEqual(['second'])
})
