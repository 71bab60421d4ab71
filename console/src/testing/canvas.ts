import { vi } from 'vitest';

/** What was drawn, call by call: nothing draws in a page without a layout. */
export const drawn: string[] = [];

function told(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof HTMLCanvasElement) return 'painted';
  return 'data' in value ? String(value.data) : 'image';
}

function createContext(canvas: { readonly width: number; readonly height: number }) {
  return new Proxy(
    {},
    {
      get(_, name: string) {
        if (name === 'canvas') return canvas;
        return (...given: readonly unknown[]) => {
          drawn.push(`${name}(${given.map(told).join(' ')})`);
          return name === 'getImageData'
            ? { data: Uint8ClampedArray.of(255, 1, 2, 9, 0, 3, 4, 9) }
            : undefined;
        };
      },
      set(_, name: string, value: unknown) {
        drawn.push(`${name} = ${String(value)}`);
        return true;
      },
    },
  );
}

/** What stands for the browser's OffscreenCanvas. */
export class StandInCanvas {
  readonly width: number;
  readonly height: number;
  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
  }
  getContext = (): unknown => createContext(this);
  convertToBlob = async ({ type }: { readonly type: string }): Promise<Blob> => new Blob(['png'], { type });
}

const box = { left: 10, top: 20, width: 50, height: 25 };

/** Takes the place of the browser's canvases and of images that are read; `/gone` is not there. */
export function stubCanvases(): void {
  drawn.length = 0;
  vi.stubGlobal('OffscreenCanvas', StandInCanvas);
  vi.stubGlobal('createImageBitmap', async () => ({ width: 2, height: 1 }));
  vi.stubGlobal('fetch', async (address: string) => {
    if (address.includes('gone')) throw new TypeError('fetch failed');
    return new Response('png');
  });
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockImplementation(function own(
    this: HTMLCanvasElement,
  ) {
    return createContext(this) as never;
  });
  vi.spyOn(HTMLCanvasElement.prototype, 'getBoundingClientRect').mockReturnValue(box as DOMRect);
  HTMLCanvasElement.prototype.setPointerCapture = () => void drawn.push('captured');
}
