// sealed.mjs, for Node.js, Bun and Deno
import { createCipheriv, createDecipheriv, hkdfSync, timingSafeEqual } from "node:crypto";

const derive = (form, kind, key) => Buffer.from(hkdfSync(
  "sha256", Buffer.from(key, "hex"), "", `oid sealed id v1 ${form}:${kind}`, form === "long" ? 64 : 32));
const aes = (key, block, make = createCipheriv) =>
  make("aes-256-ecb", key, null).setAutoPadding(false).update(block);
const isUUID = (b) => b[6] >> 4 === 8 && b[8] >> 6 === 2;
const walk = (key, block, make) => {
  do block = aes(key, block, make); while (!isUUID(block));
  return block;
};
const xor = (a, b) => Buffer.from(a.map((byte, i) => byte ^ b[i]));
const double = (b) => Buffer.from(b.map((byte, i) => (byte << 1) ^ (i < 15 ? b[i + 1] >> 7 : (b[0] >> 7) * 0x87)));
const mask = (key, tag) =>
  aes(key.subarray(32), Buffer.from(tag.map((byte, i) => (i === 8 || i === 12 ? byte & 0x7f : byte))));
const join = (a, hex, b = Buffer.alloc(0)) => Buffer.from(a.toString("hex") + hex + b.toString("hex"), "hex");

function sealBytes(form, key, id) {
  if (form === "short") return aes(key, join(id, "00000000"));
  if (form === "uuid") return walk(key, join(id.subarray(0, 6), "80008000", id.subarray(6)));
  const mac = key.subarray(0, 32), subkey = double(aes(mac, Buffer.alloc(16))), d = double(aes(mac, subkey));
  const tag = aes(mac, xor(xor(d, subkey), join(id, "80000000")));
  return join(tag, "", xor(id, mask(key, tag)));
}
const encode = (form, b) =>
  form === "uuid" ? b.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-") : b.toString("base64url");
export const seal = (form, kind, key, id) => // id is a Buffer of 12 bytes
  encode(form, sealBytes(form, derive(form, kind, key), id));

export function open(form, kind, keys, text) {
  const raw = form === "uuid" ? Buffer.from(text.replaceAll("-", ""), "hex") : Buffer.from(text, "base64url");
  const whole = raw.length === (form === "long" ? 28 : 16) && (form !== "uuid" || isUUID(raw));
  if (whole && encode(form, raw) === text) {
    for (const key of keys.map((k) => derive(form, kind, k))) {
      let id = (form === "uuid" ? walk : aes)(key.subarray(0, 32), raw.subarray(0, 16), createDecipheriv);
      if (form === "short") id = id.subarray(0, 12);
      if (form === "uuid") id = join(id.subarray(0, 6), "", id.subarray(10));
      if (form === "long") id = xor(raw.subarray(16), mask(key, raw.subarray(0, 16)));
      if (timingSafeEqual(sealBytes(form, key, id), raw)) return id;
    }
  }
  throw new Error("not a sealed id");
}
