// Shared by the tests of files: an instance with an account, multipart bodies and downloads.

import { afterEach, beforeEach } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Api, PUSHES, startApi } from '../../support/api.ts'
import { BOUNDARY, multipart, type Part } from '../multipart.ts'

export type FileBody = { filename: string; content_type: string; size: number; url: string }

export const MIB = 1024 * 1024
export const MULTIPART = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }

/** Starts an instance with an account for each test. */
export function useFiles() {
  let api: Api
  let token: string

  beforeEach(async () => {
    api = await startApi()
    token = await api.addAccount('owner@example.org')
  })
  afterEach(() => api.close())

  function post(parts: Part[], init: { token?: string | undefined; end?: string } = { token }) {
    const { end, token: as } = init
    const body = multipart(parts, end === undefined ? {} : { end })
    return api.call<{ url_token: string; files: FileBody[] }>(PUSHES, {
      headers: MULTIPART,
      body,
      ...(as ? { token: as } : {}),
    })
  }

  async function filesOf(urlToken: string): Promise<FileBody[]> {
    return (await api.retrieve(urlToken)).body.files as FileBody[]
  }

  /** Downloads a file. Not checked against the reference, which does not contain downloads. */
  function download(url: string, init: RequestInit & { from?: string } = {}) {
    return api.fetch(url.replace('http://localhost', ''), init as never)
  }

  function stored(): string[] {
    const folder = join(api.dataDir, 'files')
    return existsSync(folder)
      ? readdirSync(folder, { recursive: true })
          .map(String)
          .filter((name) => name.includes('/'))
      : []
  }

  const at = {
    get api() {
      return api
    },
    set api(another: Api) {
      api = another
    },
    /** The API token of the account. */
    get token() {
      return token
    },
    set token(another: string) {
      token = another
    },
  }
  return { at, post, filesOf, download, stored }
}

export function part(content: string | Uint8Array, disposition = 'filename="a.txt"'): Part {
  return { name: 'push[files][]', content, disposition }
}

export function noise(size: number): Buffer {
  return Buffer.from(new Uint8Array(size).map((_, i) => (i * 7 + (i >> 9)) & 255))
}
