// Lets examples/verify judge the ids of MongoDB's Java driver: java -cp mongodb-driver.jar MongoDriver.java
import java.io.*;
import org.bson.types.ObjectId;

class MongoDriver {
    static String read(String line) {
        try {
            ObjectId id = new ObjectId(line);
            return id.toHexString() + " " + id.getDate().getTime() / 1000;
        } catch (RuntimeException e) {
            return "refused";
        }
    }

    static void write(PrintWriter out) {
        for (long n = Long.parseLong(System.getenv("OID_VERIFY_IDS")); n > 0; n--) out.println(new ObjectId().toHexString());
        out.flush();
    }

    public static void main(String[] args) throws IOException {
        PrintWriter out = new PrintWriter(new BufferedWriter(new OutputStreamWriter(System.out), 4096));
        if (System.getenv("OID_VERIFY").equals("decode")) {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
            for (String line; (line = in.readLine()) != null;) out.println(read(line));
        } else {
            write(out);
            if (System.getenv("OID_VERIFY").equals("resume")) {
                System.in.read();
                write(out);
            }
        }
        out.flush();
    }
}
