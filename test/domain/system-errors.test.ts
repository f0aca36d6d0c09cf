// Errors of the operating system: their codes, and their messages for people.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { DomainError } from '../../src/domain/errors.ts'
import { codeOf, explainSystemError } from '../../src/domain/system-errors.ts'

function causeOf(work: () => unknown): unknown {
  try {
    return work()
  } catch (cause) {
    return cause
  }
}

describe('the code of an error', () => {
  test('is that of the operating system', () => {
    expect(codeOf(causeOf(() => readFileSync('/no/such/file')))).toBe('ENOENT')
  })

  test.each([
    ['an error without a code', new Error('ENOENT')],
    ['an object that is no error', { code: 'ENOENT' }],
    ['a string', 'ENOENT'],
    ['nothing', undefined],
    ['null', null],
  ])('is empty for %s', (_, cause) => expect(codeOf(cause)).toBe(''))

  test('is a string, whatever its type in the error', () => {
    expect(codeOf(Object.assign(new Error('old'), { code: 7 }))).toBe('7')
  })
})

describe('an explanation', () => {
  test('names in words what the operating system refused', () => {
    expect(explainSystemError(causeOf(() => readFileSync('/no/such/file')))).toBe(
      'there is no such file or folder',
    )
  })

  test.each([
    ['a refusal of ours', new DomainError('conflict', 'no')],
    ['a code that names a member of every object', Object.assign(new Error('no'), { code: 'constructor' })],
  ])('is null for %s', (_, cause) => expect(explainSystemError(cause)).toBeNull())
})
