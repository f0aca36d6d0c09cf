// Multicast DNS on the network of this machine, if there is one.

import { createSocket, type Socket } from 'node:dgram'
import { networkInterfaces } from 'node:os'

export const MDNS = { group: '224.0.0.251', port: 5353 }

/** An address of this machine that receives its own multicast; null if there is none. */
export const multicast: string | null = await findMulticast()

async function findMulticast(): Promise<string | null> {
  const found = Object.values(networkInterfaces()).flatMap((all = []) => all)
  const own = found.find(({ family, internal }) => family === 'IPv4' && !internal)
  return own !== undefined && (await hearsItself(own.address)) ? own.address : null
}

async function hearsItself(address: string): Promise<boolean> {
  const socket = await joinMulticast(address).catch(() => null)
  if (socket === null) return false
  const probe = Buffer.from(`probe-${crypto.randomUUID()}`)
  const arrived = new Promise<boolean>((resolve) => {
    socket.on('message', (message) => message.equals(probe) && resolve(true))
    socket.on('error', () => resolve(false))
    socket.send(probe, MDNS.port, MDNS.group, (cause) => cause !== null && resolve(false))
  })
  return Promise.race([arrived, Bun.sleep(1000).then(() => false)]).finally(() => socket.close())
}

/** Hears and speaks through the interface with this address. */
export async function joinMulticast(address: string): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', reuseAddr: true })
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.bind(MDNS.port, resolve)
  })
  socket.addMembership(MDNS.group, address)
  socket.setMulticastInterface(address)
  socket.setMulticastLoopback(true)
  return socket
}
