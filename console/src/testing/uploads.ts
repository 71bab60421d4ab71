import { vi } from 'vitest';

/** What is uploaded, as the browser sends it: tests say how far it is, and how it ends. */
export interface Upload {
  readonly file: File;
  readonly operations: { readonly variables: Readonly<Record<string, unknown>> };
  readonly isAborted: () => boolean;
  /** So much of it is sent, of a hundred. */
  readonly send: (loaded: number) => void;
  /** The server has stored it under this id. */
  readonly store: (id: string) => void;
  /** The server has refused it, for so many seconds. */
  readonly refuse: (code: string, retryAfter?: number) => void;
}

/** Takes the place of the browser's requests that upload; answers those that are sent. For consoles that are open. */
export function holdUploads(): readonly Upload[] {
  const uploads: Upload[] = [];
  class Request extends EventTarget {
    readonly upload = new EventTarget();
    responseText = '';
    status = 0;
    isAborted = false;
    retryAfter: number | undefined;
    open(): void {
      this.status = 200;
    }
    setRequestHeader(): void {
      this.status = 200;
    }
    getResponseHeader(name: string): string | null {
      return name === 'retry-after' && this.retryAfter !== undefined ? String(this.retryAfter) : null;
    }
    abort(): void {
      this.isAborted = true;
    }
    send(form: FormData): void {
      const file = form.get('0') as File;
      const answer = (body: object) => {
        this.responseText = JSON.stringify(body);
        this.dispatchEvent(new Event('load'));
      };
      uploads.push({
        file,
        operations: JSON.parse(form.get('operations') as string) as Upload['operations'],
        isAborted: () => this.isAborted,
        send: (loaded) =>
          this.upload.dispatchEvent(Object.assign(new Event('progress'), { loaded, total: 100 })),
        store: (id) =>
          answer({
            data: {
              uploadFile: {
                id,
                url: `https://kiln.test/files/${id}`,
                contentType: file.type,
                bytes: file.size,
              },
            },
          }),
        refuse: (code, retryAfter) => {
          this.retryAfter = retryAfter;
          answer({ errors: [{ message: 'no', extensions: { code } }] });
        },
      });
    }
  }
  vi.stubGlobal('XMLHttpRequest', Request);
  return uploads;
}
