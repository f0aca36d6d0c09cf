// A client that sends requests on one keep-alive connection, like Node's agents. Reconnects only if an answer
// has closed it.

import { connect, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'

export type Asked = {
  /** Complete answers. */
  answered: number
  /** Complete answers with `connection: close`. */
  ending: number
  /** Requests and connections that ended without an answer. */
  lost: number
}

export type AskingOptions = {
  port: number
  path: string
  /** The end of every complete answer. */
  end: string
  /** Connects by TLS. */
  tls?: ConnectionOptions
  isOver?: () => boolean
  pauseMs?: number
}

/** Resolves when connections are refused, or when `isOver` returns true. */
export async function keepAsking(options: AskingOptions): Promise<Asked> {
  const { isOver = () => false, pauseMs = 0 } = options
  const asked: Asked = { answered: 0, ending: 0, lost: 0 }
  let socket: Socket | null = null
  while (!isOver()) {
    const opened: Socket | string = socket ?? (await open(options).catch((cause) => cause.code))
    if (opened === 'ECONNREFUSED') break
    if (typeof opened === 'string') {
      asked.lost += 1
      continue
    }
    socket = opened
    const answer = await askOn(socket, options)
    if (answer === null) asked.lost += 1
    else asked.answered += 1
    const isEnding = answer !== null && /^connection: close/im.test(answer)
    if (isEnding) asked.ending += 1
    if (answer === null || isEnding) {
      socket.destroy()
      socket = null
    }
    if (pauseMs > 0) await Bun.sleep(pauseMs)
  }
  socket?.destroy()
  return asked
}

function open({ port, tls }: AskingOptions): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const to = { port, host: '127.0.0.1' }
    const socket = tls === undefined ? connect(to) : connectTls({ ...to, ...tls })
    socket.once(tls === undefined ? 'connect' : 'secureConnect', () => resolve(socket))
    socket.on('error', reject)
  })
}

/** Resolves to null if the connection ends without a complete answer. */
function askOn(socket: Socket, { path, end }: AskingOptions): Promise<string | null> {
  return new Promise((resolve) => {
    let text = ''
    const take = (bytes: Buffer) => {
      text += bytes.toString()
      if (text.endsWith(end)) finish(text)
    }
    const lost = () => finish(null)
    function finish(answer: string | null): void {
      socket.off('data', take).off('close', lost).off('error', lost)
      resolve(answer)
    }
    socket.on('data', take).once('close', lost).once('error', lost)
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  })
}
