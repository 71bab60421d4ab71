/** Pixels of a decoded picture (planar YCbCr 4:2:0, limited range, BT.709 as video has it) as RGB, its padding cut off. Pure. */
export function rgbOf(
  planes: Uint8Array,
  { stride, rows }: { readonly stride: number; readonly rows: number },
  { width, height }: { readonly width: number; readonly height: number },
): Uint8Array {
  const rgb = new Uint8ClampedArray(width * height * 3);
  const [halfStride, luma] = [stride / 2, stride * rows];
  const chroma = luma / 4;
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const small = (y >> 1) * halfStride + (x >> 1);
      const light = 1.164 * ((planes[y * stride + x] ?? 0) - 16);
      const blue = (planes[luma + small] ?? 128) - 128;
      const red = (planes[luma + chroma + small] ?? 128) - 128;
      const at = (y * width + x) * 3;
      rgb[at] = light + 1.793 * red;
      rgb[at + 1] = light - 0.213 * blue - 0.533 * red;
      rgb[at + 2] = light + 2.112 * blue;
    }
  }
  return new Uint8Array(rgb.buffer);
}
