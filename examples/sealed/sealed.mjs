// sealed.mjs, for Node.js, Bun and Deno
import { createCipheriv, createDecipheriv, hkdfSync, timingSafeEqual } from "node:crypto";

const derive = (kind, key) =>
  Buffer.from(hkdfSync("sha256", Buffer.from(key, "hex"), "", `oid sealed id v1 ${kind}`, 32));
const aes = (key, block, make = createCipheriv) =>
  make("aes-256-ecb", key, null).setAutoPadding(false).update(block);

export const seal = (kind, key, id) => // id is a Buffer of 12 bytes
  aes(derive(kind, key), Buffer.concat([id, Buffer.alloc(4)])).toString("base64url");

export function open(kind, keys, text) {
  const raw = Buffer.from(text, "base64url");
  if (raw.length === 16 && raw.toString("base64url") === text) {
    for (const key of keys.map((k) => derive(kind, k))) {
      const block = aes(key, raw, createDecipheriv);
      if (timingSafeEqual(block.subarray(12), Buffer.alloc(4))) return block.subarray(0, 12);
    }
  }
  throw new Error("not a sealed id");
}
