// Asks a server on this machine whether it is alive.

const PATH = '/up'
const PATIENCE_MS = 5_000

/** Does not verify the certificate, which may be for another name, because nothing secret is sent. */
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
