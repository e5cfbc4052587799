// app.js
const { ObjectId } = require("bson");
const agent = require("net").connect("/run/oid/agent.sock");
agent.write(`oid1 ${new ObjectId()} name=shop addr=10.0.0.7:8080\n`);
agent.on("error", (e) => console.error(e.message)).resume();

setInterval(() => console.log(new ObjectId().toHexString()), 1000);
