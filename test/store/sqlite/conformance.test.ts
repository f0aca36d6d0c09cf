// SQLite and files on a disk, measured by what every engine promises.

import { describe } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFiles } from '../../../src/store/files/files.ts'
import { openTestStore } from '../../support/store.ts'
import { describeAccounts } from '../conformance/accounts.ts'
import type { OpenEngine } from '../conformance/engine.ts'
import { describeFilesOfPushes, describeSealedFiles, type OpenFiles } from '../conformance/files.ts'
import { describeLists } from '../conformance/lists.ts'
import { describeOwners } from '../conformance/owners.ts'
import { describePeople } from '../conformance/people.ts'
import { describePushes } from '../conformance/pushes.ts'

const openEngine: OpenEngine = async () => {
  let opened = await openTestStore()
  const { clock, dataDir } = opened
  return {
    get store() {
      return opened.store
    },
    clock,
    reopen: async () => {
      await opened.store.close()
      opened = await openTestStore({ dataDir, clock })
    },
    close: () => opened.close(),
  }
}

const openFiles: OpenFiles = () => {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-files-'))
  return { files: createFiles(folder), close: () => rmSync(folder, { recursive: true, force: true }) }
}

describe('pushes', () => describePushes(openEngine))
describe('lists', () => describeLists(openEngine))
describe('owners', () => describeOwners(openEngine))
describe('accounts', () => describeAccounts(openEngine))
describe('people', () => describePeople(openEngine))
describe('the files of pushes', () => describeFilesOfPushes(openEngine))
describe('sealed files', () => describeSealedFiles(openFiles))
