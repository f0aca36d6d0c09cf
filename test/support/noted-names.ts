// Records the names of headers, parameters and form fields that a server reads while it answers.

export type Names = {
  headers: ReadonlySet<string>
  parameters: ReadonlySet<string>
  fields: ReadonlySet<string>
}

/** A field that marks a form. */
export const PROBE = 'probe'

/** Records the names read in this process while `work` runs. */
export async function noteNames(work: () => Promise<unknown>): Promise<Names> {
  const [headers, parameters, fields] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const [header, parameter, field] = [Headers.prototype.get, URLSearchParams.prototype.get, Map.prototype.get]
  const has = Map.prototype.has
  Headers.prototype.get = function (name) {
    headers.add(name.toLowerCase())
    return header.call(this, name)
  }
  URLSearchParams.prototype.get = function (name) {
    parameters.add(name)
    return parameter.call(this, name)
  }
  Map.prototype.get = function (name) {
    if (has.call(this, PROBE)) fields.add(String(name))
    return field.call(this, name)
  }
  Map.prototype.has = function (name) {
    if (has.call(this, PROBE)) fields.add(String(name))
    return has.call(this, name)
  }
  try {
    await work()
  } finally {
    Headers.prototype.get = header
    URLSearchParams.prototype.get = parameter
    Map.prototype.get = field
    Map.prototype.has = has
  }
  return { headers, parameters, fields }
}
