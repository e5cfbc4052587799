// Lets examples/verify judge the ids of KBson, for Kotlin, and of ReactiveMongo, for Scala:
// java -cp 'jars/*' Jvm.java LIBRARY
import java.io.*;
import java.util.function.Function;
import java.util.function.Supplier;
import org.mongodb.kbson.BsonObjectId;
import reactivemongo.api.bson.BSONObjectID;

class Jvm {
    static String kbson(String line) {
        BsonObjectId id = BsonObjectId.Companion.invoke(line);
        return id.toHexString() + " " + id.getTimestamp();
    }

    static String reactiveMongo(String line) {
        BSONObjectID id = BSONObjectID.parse(line).get();
        return id.stringify() + " " + Math.floorDiv(id.time(), 1000L);
    }

    static String read(Function<String, String> library, String line) {
        try {
            return library.apply(line);
        } catch (Exception e) {
            return "refused";
        }
    }

    static void write(PrintWriter out, Supplier<String> create) {
        for (long n = Long.parseLong(System.getenv("OID_VERIFY_IDS")); n > 0; n--) out.println(create.get());
        out.flush();
    }

    public static void main(String[] args) throws IOException {
        boolean kotlin = args[0].equals("kbson");
        Supplier<String> create = kotlin ? () -> BsonObjectId.Companion.invoke().toHexString() : () -> BSONObjectID.generate().stringify();
        PrintWriter out = new PrintWriter(new BufferedWriter(new OutputStreamWriter(System.out), 4096));
        if (System.getenv("OID_VERIFY").equals("decode")) {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
            for (String line; (line = in.readLine()) != null;) out.println(read(kotlin ? Jvm::kbson : Jvm::reactiveMongo, line));
        } else {
            write(out, create);
            if (System.getenv("OID_VERIFY").equals("resume")) {
                System.in.read();
                write(out, create);
            }
        }
        out.flush();
    }
}
