// What the server and the process for its backups say to each other, and why a backup failed.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { DomainError } from '../../../src/domain/errors.ts'
import { type BackupTask, explainTaskFailure } from '../../../src/operating/backup-schedule/task.ts'
import { parseAnswer, parseTask } from '../../../src/operating/backup-schedule/task-lines.ts'

const TASK: BackupTask = {
  ...{ folder: '/mnt/b', dataDir: '/srv/data', mayMakeFolder: true },
  ...{ known: [{ name: 'a.tar', bytes: 1 }], begun: ['b.tar'] },
  make: {
    ...{ name: 'c.tar', recipients: ['age1x'], keep: 3, minFreeSpace: 5 },
    ...{ keyFile: '/etc/k', tlsAuthorityKey: null },
  },
}

test.each([TASK, { ...TASK, make: null }])('a task arrives as it was sent', (task) => {
  expect(parseTask(JSON.stringify(task))).toEqual(task)
})

test('no line of anybody makes the reader fail', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (line) => {
      parseTask(line)
      parseAnswer(line)
    }),
  )
  for (const line of ['', 'null', '[]', '{"state":"odd"}', '{"folder":7}']) {
    expect([parseTask(line), parseAnswer(line)]).toEqual([null, null])
  }
})

const system = (code: string, path?: string) => Object.assign(new Error('refused'), { code, path })
const refusal = (cause: unknown) =>
  Object.assign(new DomainError('conflict', 'It cannot be written.'), { cause })

test.each([
  ['a full disk', system('ENOSPC'), 'full'],
  ['a quota', system('EDQUOT'), 'full'],
  [
    'too little room for what it would take',
    new DomainError('disk_full', 'The disk of /mnt/b/c.tar has no room.'),
    'full',
  ],
  ['a full disk of the data', new DomainError('disk_full', 'The disk of /srv/data has no room.'), 'data'],
  ['a refusal that the system caused', refusal(system('EROFS')), 'read_only'],
  ['a folder that is gone', system('ENOENT', '/mnt/b'), 'missing'],
  ['a stale handle of a network disk', system('ESTALE'), 'missing'],
  ['a disk at fault', refusal(system('EIO', '/mnt/b/c.tar')), 'stalled'],
  ['no right', system('EACCES', '/mnt/b'), 'denied'],
  ['no right to the data', system('EACCES', '/srv/data/instance.key'), 'data'],
  ['a damaged database', new DomainError('conflict', 'The database is damaged.'), 'data'],
  ['anything else', new Error('odd'), 'other'],
])('%s is told apart', (_, cause, code) => {
  const failure = explainTaskFailure(cause, TASK)
  expect(failure.code).toBe(code as typeof failure.code)
  expect(failure.words).not.toMatch(/\.$|^$/)
})
