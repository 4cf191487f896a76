/**
 * CRC-32 of a whole from those of its parts, so that parts can be summed up at the same time and the whole still be checked
 * with any tool that knows CRC-32. A CRC is a polynomial over GF(2) modulo P; to append n bytes to a text is to multiply its
 * polynomial by x to the power of 8n and to add that of the bytes. The bits of a number here are its coefficients, that of
 * x⁰ on the left.
 */
const P = 0xedb88320;
const ONE = 0x80000000;
const X_8 = 0x00800000;

/** The product of two polynomials modulo P. */
function multiply(a, b) {
  let product = 0;
  for (let bit = ONE, shifted = b; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= shifted;
    shifted = shifted & 1 ? (shifted >>> 1) ^ P : shifted >>> 1;
  }
  return product >>> 0;
}

/** CRC-32 of what `first` is of, followed by the `length` bytes that `second` is of. */
export function joinCrc32(first, second, length) {
  let factor = ONE;
  for (let left = length, square = X_8; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) factor = multiply(factor, square);
    square = multiply(square, square);
  }
  return (multiply(first, factor) ^ second) >>> 0;
}

/** As tools write it. */
export const hex = (crc) => crc.toString(16).padStart(8, '0');
