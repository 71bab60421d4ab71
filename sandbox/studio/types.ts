/** The renderer behind the stand-ins: real pictures, made here, without a network and without a model. */
export interface Studio {
  /** Renders a picture. Rejects when the signal fires, the renderer dies or the time is over. */
  image(request: ImageRequest, options?: StudioCallOptions): Promise<StudioImage>;
  /** Measures a picture and puts that in words. Rejects with UnreadablePicture when it is none. */
  describe(picture: Uint8Array, options?: StudioCallOptions): Promise<Description>;
  /** Ends the workers; what is still being rendered is rejected. */
  close(): Promise<void>;
}

interface StudioCallOptions {
  /** 0 to 100 and what is being drawn. */
  readonly onProgress?: (percent: number, stage: string) => void;
  readonly signal?: AbortSignal;
}

export interface ImageRequest {
  readonly prompt: string;
  /** The same seed and prompt make the same pixels; a hash of the prompt when absent. */
  readonly seed?: number;
  /** `W:H`, between 1:4 and 4:1; 1:1 when absent. */
  readonly aspectRatio?: string;
  /** Exact size in pixels; wins over the aspect ratio. */
  readonly size?: { readonly width: number; readonly height: number };
  /** PNG when absent. */
  readonly format?: ImageFormat;
  /** Pictures that are blended in, at most 5. */
  readonly references?: readonly Uint8Array[];
  /** Whether the prompt is written at the foot of the picture; yes when absent. */
  readonly hasCaption?: boolean;
}

export type ImageFormat = 'png' | 'jpeg' | 'webp';

export interface StudioImage {
  readonly bytes: Buffer;
  readonly contentType: `image/${ImageFormat}`;
  readonly width: number;
  readonly height: number;
  readonly seed: number;
  /** A small blurred WebP of the same picture: what is shown while the upstream is still at work. */
  readonly preview: Buffer;
}

/** What measuring a picture gave. Nothing in it is recognised; everything is counted. */
export interface Description {
  /** Four prompts that could lead to a picture like this. */
  readonly prompts: readonly string[];
  /** One sentence of what was measured. */
  readonly caption: string;
  /** What this renderer does not do, or the file's own description. */
  readonly note: string;
  readonly width: number;
  readonly height: number;
  /** png, jpeg, webp, ... */
  readonly format: string;
  /** Largest share first. */
  readonly palette: readonly { readonly name: string; readonly hex: string; readonly share: number }[];
}

/** The bytes are no picture that can be read. */
export class UnreadablePicture extends Error {
  constructor(cause: unknown) {
    super('the picture cannot be read', { cause });
    this.name = 'UnreadablePicture';
  }
}
