// Asks a server on this machine whether it is alive.

const PATH = '/up'
const PATIENCE_MS = 5_000

/** Sends nothing but the question, so that the certificate need not be verified: it may be for another name. */
export async function isUp({ url, socket }: { url: string; socket: string | null }): Promise<boolean> {
  try {
    const response = await fetch(`${url}${PATH}`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
      tls: { rejectUnauthorized: false },
      ...(socket === null ? {} : { unix: socket }),
    })
    const told: unknown = await response.json()
    return (
      response.status === 200 && typeof told === 'object' && told !== null && 'up' in told && told.up === true
    )
  } catch {
    return false
  }
}
