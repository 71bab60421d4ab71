/** The body is not what its headers say (broken multipart framing, a compressed body): one 422 problem at `body`. */
export class MalformedBody extends Error {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'MalformedBody';
  }
}

/** The caller disconnected before the body was complete, so there is nobody to reply to. */
export class ClientDisconnected extends Error {
  constructor() {
    super('the caller disconnected before the body was complete');
    this.name = 'ClientDisconnected';
  }
}
