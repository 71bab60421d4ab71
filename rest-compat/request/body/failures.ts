/** The body is not what its headers say (broken multipart framing, a compressed body): one 422 problem at `body`. */
export class MalformedBody extends Error {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'MalformedBody';
  }
}

/** The caller went away before the body was complete: nobody is left to answer. */
export class ClientDisconnected extends Error {
  constructor() {
    super('the caller hung up before the body was complete');
    this.name = 'HungUp';
  }
}
