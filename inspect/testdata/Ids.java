import java.lang.reflect.Method;
import java.util.*;
import org.bson.*;
import org.bson.json.*;
import org.bson.types.ObjectId;

class Ids {
    public static void main(String[] args) throws Exception {
        ObjectId id = new ObjectId("507f1f77bcf86cd799439011");
        JsonWriterSettings shell = JsonWriterSettings.builder().outputMode(JsonMode.SHELL).build();
        System.out.println(id);
        System.out.println(new BsonObjectId(id));
        System.out.println(new Document("_id", id));
        System.out.println(new Document("_id", id).toJson());
        System.out.println(new Document("_id", id).toJson(shell));
        System.out.println(Arrays.toString(id.toByteArray()));

        // The members that a serializer of JavaBeans finds.
        List<String> members = new ArrayList<>();
        for (Method m : ObjectId.class.getMethods()) {
            String name = m.getName();
            if (name.startsWith("get") && m.getReturnType() != Class.class && m.getParameterCount() == 0 && (m.getModifiers() & 8) == 0) {
                Object value = m.invoke(id);
                members.add('"' + name.substring(3, 4).toLowerCase() + name.substring(4) + "\":" + (value instanceof Date d ? d.getTime() : value));
            }
        }
        System.out.println("{" + String.join(",", members) + "}");
    }
}
